import { expect, test } from 'vitest'
import { commandsIn, lineHas, programOf, runsChecks, runsTests, ships, touchedBy, verifies } from './commands.ts'

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
    timeout -k 5 60 npm test
    bash -lc "cd web && npm test"
    env -i CI=1 npm test
    (cd a && npm test) | tee log.txt
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

/** Lines by what becomes of which path; `-` where nothing does. */
const TOUCHED: readonly (readonly [what: string, lines: string])[] = [
  ['writes src/a.ts', `
    sed -i s/x/y/ src/a.ts
    sed -i.bak -e s/x/y/ -e s/y/z/ src/a.ts
    sed -Ei 's/(x|y)/z/' "src/a.ts"
    sed --in-place s/x/y/ -- src/a.ts
    perl -pi -e 's/x/y/' src/a.ts
    cd src && sed -i s/x/y/ a.ts
    (cd src; sed -i s/x/y/ a.ts) | cat
    bash -lc "cd src && sed -i s/x/y/ a.ts"
    sudo sh -c 'echo x > src/a.ts'
    echo x > src/a.ts
    echo x >>src/a.ts 2>&1
    printf 'a > b' > "src/a.ts"
    cmd &> src/a.ts
    cmd >| src/a.ts
    npm test 2>src/a.ts >/dev/null
    echo x | tee -a src/a.ts
    tee src/a.ts < in.txt
    cp b.ts src/a.ts
    cp b/a.ts src/
    rsync -a --delete build/ src/a.ts
    cp -rT build src/a.ts
    touch -d yesterday src/a.ts
    truncate -s 0 src/a.ts
    dd if=/dev/zero of=src/a.ts
    prettier --write src/a.ts
    npx biome check --write src/a.ts
    black src/a.ts
    gofmt -w src/a.ts
    if true; then echo x > src/a.ts; fi
  `],
  ['removes src/a.ts', `
    rm src/a.ts
    rm -rf -- src/a.ts
    git rm -q src/a.ts
    cd src/deep && rm ../a.ts
    find src/a.ts -type f -delete
    git clean -fd src/a.ts
  `],
  ['moves src/a.ts, writes src/b.ts', `
    mv src/a.ts src/b.ts
    git mv src/a.ts src/b.ts
    mv -f src/a.ts 'src/b.ts'
  `],
  ['resets src/a.ts', `
    git checkout src/a.ts
    git checkout HEAD~1 -- src/a.ts
    git restore --source HEAD src/a.ts
    git -C src restore a.ts
    git stash push -- src/a.ts
    git stash push -m later src/a.ts
  `],
  ['resets ', `
    git reset --hard
    git reset --hard HEAD~2
    git stash
    git stash pop
    git checkout -f main
    git pull --rebase --autostash
  `],
  ['resets web', `
    cd web && git switch --discard-changes main
    git -C web reset --hard
  `],
  ['removes ../w', 'git worktree remove --force ../w'],
  ['-', `
    sed -n 1,5p src/a.ts
    sed s/x/y/ src/a.ts
    cat src/a.ts
    git stash list
    git reset src/a.ts
    git checkout -b src/a.ts
    git restore --staged src/a.ts
    git clean -nd
    echo "rm src/a.ts"
    echo '> src/a.ts'
    prettier --check src/a.ts
    black --check src/a.ts
    find src -name a.ts
    rm "$file"
    cd "$dir" && rm a.ts
    npm test > /dev/null 2>&1
    diff <(sort a) <(sort b)
    # rm src/a.ts
  `],
] // biome-ignore format: a table

test.each(
  TOUCHED.flatMap(([what, lines]) =>
    lines
      .trim()
      .split('\n')
      .map((line) => [line.trim(), what] as const),
  ),
)('what a line does to files: %s', (line, what) => {
  const touched = commandsIn(line).flatMap(touchedBy)
  expect(touched.map(({ how, path }) => `${how} ${path}`).join(', ') || '-').toBe(what)
})

test('text that is given to a program is no command', () => {
  const touched = (line: string) =>
    commandsIn(line)
      .flatMap(touchedBy)
      .map((t) => `${t.how} ${t.path}`)
  expect(touched("cat <<'EOF' > a.md\nrm b.md\nEOF\nrm c.md")).toEqual(['writes a.md', 'removes c.md'])
  expect(touched('cat <<-EOF | tee a.md\n\trm b.md\n\tEOF\nrm c.md')).toEqual(['writes a.md', 'removes c.md'])
  expect(touched('cat <<A <<B\nrm a\nA\nrm b\nB\nrm c')).toEqual(['removes c'])
  expect(touched('grep x <<< "rm a"; rm b')).toEqual(['removes b'])
  expect(touched('rm a \\\n  b')).toEqual(['removes a', 'removes b'])
})

test('[P1] what leaves this machine', () => {
  const shipped = (line: string) => commandsIn(line).flatMap(({ words }) => ships(programOf(words)) ?? [])
  expect(
    ['git push origin main', 'npm run deploy', './deploy.sh', 'cargo publish', 'make release'].map(shipped),
  ).toEqual([['push'], ['deploy'], ['deploy'], ['publish'], ['release']])
  expect(['git push --dry-run', 'npm run deploy -- --help', 'git pull'].flatMap(shipped)).toEqual([])
})

test('[M4] a line is read in linear time', () => {
  const lines = ['<<a\n', '(a', "'", ';a>b', '#\n', 'a ', '\\\n', 'sudo ', 'sh -c \'sh -c "', '$(', '-i ']
  for (const part of lines) {
    const began = performance.now()
    for (const command of commandsIn(part.repeat(50_000))) [verifies(programOf(command.words)), touchedBy(command)]
    expect(performance.now() - began, part).toBeLessThan(2_000)
  }
})
