/**
 * One topic a line: its name and other names of it, then words and phrases that speak of it. In a text a name counts like a
 * word, unless it begins with `~`. Words that mean something else in another field are left out, or stand in a phrase.
 */
export const TOPIC_WORDS = `
auth authentication authorization authn authz: jwt, oauth, oidc, saml, sso, login, logout, sign in, sign out, log in, log out, password, passkey, webauthn, mfa, 2fa, two factor, refresh token, access token, bearer token, session token, token expiry, token expiration, token rotation, user session, session management, session cookie, auth cookie, rbac, permission, access control, credential, keycloak, auth0, okta
database databases db: postgres, postgresql, mysql, mariadb, sqlite, mongodb, mongo, dynamodb, cassandra, cockroachdb, sql, nosql, orm, prisma, typeorm, sequelize, drizzle, sqlalchemy, hibernate, schema migration, database migration, foreign key, primary key, transaction, connection pool, query planner, slow query, unique index, composite index, sharding, soft delete, read replica, replica lag
~storage: s3, s3 bucket, object storage, blob storage, file upload, disk space
caching cache: redis, memcached, cdn, cache invalidation, cached, ttl, eviction, memoization, memoize
deployment deploy deployments release ~releases rollout: docker, dockerfile, container image, helm, blue green, canary, rollback, roll back, rolling update, hotfix, staging, semver, release train, heroku, fly io, vercel, netlify
infrastructure infra: kubernetes, k8s, k3s, terraform, pulumi, cloudformation, ansible, aws, ec2, gcp, azure, vpc, serverless, virtual machine, load balancer, nginx, dns, autoscaling, cloud provider, data center
ci continuous-integration: ci cd, github actions, gitlab ci, jenkins, circleci, travis, build server, build pipeline
~build build-system ~bundling: webpack, vite, rollup, esbuild, turbopack, bazel, gradle, maven, makefile, monorepo, compiler flag, bundle size, bundler, cold build, build time
testing ~tests qa: test, unit test, integration test, e2e, end to end test, jest, vitest, mocha, pytest, junit, cypress, playwright, selenium, flaky, test coverage, code coverage, mock, fixture, snapshot test, regression test, property based, fuzzing, assertion
api apis: rest api, graphql, grpc, trpc, openapi, swagger, endpoint, webhook, http status, status code, pagination, idempotency key, api version, rate limit, rate limiting, request body, response body
frontend ui user-interface: react, vue, svelte, angular, css, tailwind, html, dom, browser, component library, design system, dark mode, responsive, storybook, redux, state management, hydration, server side rendering, ssr, button, modal, dialog, dropdown, tooltip, landing page
accessibility a11y: screen reader, aria, wcag, keyboard navigation, focus ring, contrast ratio, alt text
mobile: ios, android, swiftui, react native, flutter, app store, play store
security: encryption, encrypt, tls, tls certificate, ssl certificate, signing certificate, csrf, xss, cors, sql injection, vulnerability, cve, secret, penetration test, pentest, brute force, password hash, bcrypt, argon2, threat model, attacker, audit log
privacy compliance: gdpr, hipaa, pii, personal data, data retention, consent, ccpa, soc2, anonymize, anonymization
performance: latency, throughput, profiling, profiler, benchmark, p95, p99, n 1 query, memory leak, garbage collection, hot path, lazy loading, async io, response time, bottleneck, stress test, load test, slow query, bundle size
observability monitoring logging logs: log, logger, log level, structured log, metric, tracing, opentelemetry, prometheus, grafana, datadog, sentry, alert, alert fatigue, dashboard, on call, pager, incident, postmortem, slo, sla, uptime, monitor
messaging message-queue: queue, kafka, rabbitmq, nats, sqs, pubsub, pub sub, event bus, event sourcing, event driven, message broker, dead letter, dlq, outbox, background job, job queue, celery, sidekiq, consumer group
concurrency: mutex, deadlock, race condition, thread pool, lock contention, async await, event loop, goroutine, worker thread, parallelism, optimistic lock, pessimistic lock, thread safe
error-handling ~errors: error, exception handling, retry, backoff, circuit breaker, timeout, fallback, graceful degradation, fail fast
configuration config ~settings: environment variable, env var, feature flag, feature toggle, dotenv, yaml, toml, config file
dependencies dependency: npm, pnpm, yarn, pip, cargo, lockfile, third party library, package manager, dependabot, renovate, vendoring, upgrade
code-style ~style ~conventions ~formatting: prettier, eslint, biome, ruff, linter, lint, code format, naming convention, camelcase, snake case, indentation, semicolon, named export, default export, strict mode, type annotation, type inference, docstring, syntactic sugar
version-control git: branch, merge commit, rebase, squash, pull request, commit message, code review, trunk based, cherry pick, merge conflict
documentation docs: readme, changelog, runbook, tutorial, api reference, javadoc, adr, architecture decision record, wiki, user guide
architecture: microservice, monolith, modular monolith, hexagonal, domain driven, bounded context, domain model, plugin architecture, cqrs, dependency injection, service boundary, technical debt, tech debt
search: elasticsearch, opensearch, full text, inverted index, ranking, autocomplete, solr, typesense, meilisearch
machine-learning ml ai: llm, genai, embedding, fine tune, training data, neural network, system prompt, prompt engineering, gpt, classifier, model weights, pytorch, tensorflow, overfitting, hallucination
data-pipeline analytics etl: airflow, spark, dbt, data warehouse, snowflake, bigquery, parquet, csv, ingestion, data quality, batch job, data lake
payments billing payment: stripe, paypal, invoice, subscription, refund, checkout, credit card, chargeback, pricing plan, proration
notifications notification email: e mail, smtp, sendgrid, mailgun, newsletter, sms, push notification, unsubscribe
internationalization i18n localization l10n: translation, locale, time zone, timezone, utc, unicode, right to left, utf 8, currency format
~scheduling: cron, cron job, job scheduler, calendar sync
~networking network: websocket, tcp, udp, http 2, proxy, firewall, socket, vpn, ipv6, packet
hiring recruiting: hire, interview, recruiter, cover letter, cv, job offer, job application, reference check, onboarding, job posting
salary compensation: pay raise, pay rise, pay cut, high paying, bonus, equity, stock option, rsu, benefits package, pension
career ~career-growth promotion: senior role, staff engineer, career change, career path, career ladder, performance review, quit, resign, resignation, job hunt, job search, job seeker, look for a job, new job, job change, sabbatical, freelance, laid off, layoff
~management leadership: boss, my manager, your manager, engineering manager, one on one, direct report, delegate, delegation, team lead, stakeholder, roadmap, okr, reorg, micromanage
education ~studies: online course, certification, degree, bootcamp, mentor, study, textbook, master's, phd, exam, university, college, training budget
work-life-balance ~workload burnout: overtime, overwork, work from home, remote work, vacation, weekend work, hybrid work, commute, time off, days off, parental leave
sleep: insomnia, bedtime, in bed, go to bed, nap, melatonin, slept, sleep apnea, tired, fatigue
nutrition diet food: meal, calorie, protein, sugar, vegetarian, vegan, gluten, dairy, breakfast, lunch, dinner, snack, fasting, carbs, vegetable, alcohol, caffeine, coffee, weight loss
exercise fitness workout: gym, jogging, marathon, run distance, swim, yoga, pilates, strength training, lift weights, squat, stretching, steps a day, cardio, push up, bike ride
pain injury: knee, shoulder, headache, migraine, sprain, physiotherapy, physical therapy, physiotherapist, sore, ache, stomach
medication medicine: meds, dose, dosage, ibuprofen, paracetamol, aspirin, antibiotic, prescription, supplement, vitamin, mg, pill, antidepressant, ssri, sertraline, statin, insulin
mental-health mood stress: anxiety, anxious, depression, depressed, therapy, therapist, meditation, meditate, mindfulness, panic attack, overwhelmed, cbt
medical-care doctor: blood test, blood pressure, cholesterol, blood sugar, diagnosis, symptom, allergy, asthma, diabetes, vaccine, surgery, clinic, dentist, specialist, appointment, checkup
family parenting: mother, father, mom, mum, dad, sister, brother, son, daughter, kid, children, grandmother, grandfather, grandma, grandpa, in law, sibling, baby, toddler, cousin, aunt, uncle
partner marriage dating: wife, husband, girlfriend, boyfriend, spouse, fiance, fiancee, wedding, divorce, breakup, date night, couples therapy
friends friendship: friend, roommate, housemate
communication: argue, apologize, apologise, apology, set boundaries, setting boundaries, quarrel, misunderstanding, silent treatment, honest conversation, dispute
money finances: rent, mortgage, debt, loan, tax, expense, joint account, household bills, savings account, insurance
`
