import { expect, test } from 'vitest'
import { commandsIn, lineHas, programOf, runsChecks, runsTests, verifies } from './commands.ts'

/** Lines by what they verify for certain, and whether they run tests. Hooks and the assessment of a CI told 40 of these apart. */
const TABLE: readonly (readonly [sorts: string, tests: boolean, lines: string])[] = [
  ['tests', true, `
    npm test
    npm t
    npm run test:unit
    pnpm test
    yarn test --watch
    bun test
    deno test
    npx vitest run
    npx jest --ci
    npx playwright test
    npx cypress run
    karma start
    node --test
    node --test test/
    python -m pytest
    python3 -m unittest discover
    pytest -k "not slow"
    uv run --locked tox run
    poetry run pytest
    cargo test --all
    cargo nextest run
    go test ./...
    dotnet test
    swift test
    ./mvnw -B verify
    gradle check
    sbt test
    make test
    make -j4 test
    just test
    rake spec
    bundle exec rspec
    composer test
    vendor/bin/phpunit
    mix test
    ctest --output-on-failure
    bats test/
    prove -r t
    xvfb-run npm test
    if npm test; then git push; fi
    (cd web && npm test)
    CI=1 npx vitest run
    cross-env CI=1 jest
    tox -e py312
    nox -s tests
    time npm test
    xcodebuild test
  `],
  ['checks', false, `
    npm run check
    npm run verify
    go vet ./...
    make lint
    eslint src test
    tsc -p test/tsconfig.json
    biome check test
  `],
  ['', false, `
    npx playwright install
    npx cypress open
    node scripts/build.mjs --out test/x
    pip install pytest
    npm install --save-dev jest
    npm i -D vitest
    npm ci
    echo npm test
    git commit -m "fix tests"
    git grep test
    git add tests
    mkdir tests
    rm -rf test/tmp
    ls tests
    cat tests/a.py
    test -f x
    [ -f test ]
    rake
    docker build -t test .
    vim tests/a.py
    npm test -- --help
    vitest --version
    kubectl apply -f test.yaml
    curl http://localhost/test
    sed -i s/a/b/ tests/a.ts
    cd test && ls
  `],
  ['', true, `
    ng test
    node test/run.js
    python manage.py test
    ./scripts/run-tests.sh
    ./run-all-tests.sh
    sh ci/test.sh
    docker compose run app pytest
    sudo -u ci pytest
    turbo run test
    nx test app
  `],
  ['builds', false, `
    cargo build
    go build ./...
    mvn package -DskipTests
    ./gradlew build -x test
  `],
  ['checks', true, `
    make check
  `],
  ['builds tests', true, `
    npm run build && npm test
  `],
] // biome-ignore format: a table

test.each(
  TABLE.flatMap(([sorts, tests, lines]) =>
    lines
      .trim()
      .split('\n')
      .map((line) => [line.trim(), sorts, tests] as const),
  ),
)('[P1] [P6] what a line runs: %s', (line, sorts, tests) => {
  expect(
    commandsIn(line)
      .flatMap(({ words }) => verifies(programOf(words)) ?? [])
      .join(' '),
  ).toBe(sorts)
  expect(lineHas(line, runsTests)).toBe(tests)
})

test('[P1] a line is taken apart: quotes, redirections, settings, here-documents; nothing behind what is not understood', () => {
  const told = (line: string) =>
    commandsIn(line).map(({ words, writes, then }) => [words.join('·'), writes.join(), then])
  expect(told('A=1 make -j4 "a b" >log.txt 2>&1 && (cd x; ls > out <in) | tee y &')).toEqual([
    ['A=1·make·-j4·a b', 'log.txt', '&&'],
    ['cd·x', '', ';'],
    ['ls', 'out', '|'],
    ['tee·y', '', '&'],
  ])
  expect(told("cat > a.txt <<'EOF'\nnpm test\nEOF\nls")).toEqual([
    ['cat', 'a.txt', ';'],
    ['ls', '', ''],
  ])
  expect(told('npm test && echo "not closed')).toEqual([['npm·test', '', '&&']])
  expect(programOf(['sudo', 'X=1', './node_modules/.bin/tsc', '-p', '.'])).toEqual(['tsc', '-p', '.'])
})

test('[P6] checks are told from what only names them', () => {
  for (const line of ['eslint .', 'npx tsc', 'ruff format --check', 'make lint'])
    expect(lineHas(line, runsChecks)).toBe(true)
  for (const line of ['pip install ruff', 'echo lint', 'git checkout style'])
    expect(lineHas(line, runsChecks)).toBe(false)
})
