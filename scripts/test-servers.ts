// Runs the tests that need a server against each supported major: npm run test:servers [-- 15 18]
// All of them on the majors that PostgreSQL maintains, the scenarios of protocol 1 on older ones.
// With --scenarios only the scenarios, with --inspection only slots, doctor, identity and what explains
// a silence: on all. With --no-inspection all but that.

import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const MAJORS = ['10', '11', '12', '13', '14', '15', '16', '17', '18'];
const FILES = '.pg.test.';
/** All that runs where `binary`, `streaming` and logical messages do not exist yet. */
const SCENARIOS = 'test/scenarios/';
const FIRST_WITH_ALL = 14;

const INSPECTION = ['test/slots/', 'test/doctor/', 'test/identity/', 'test/silence/'];
/** Flags that choose a part of the tests, as words for vitest. */
const PARTS: Readonly<Record<string, readonly string[]>> = {
  '--scenarios': [SCENARIOS],
  '--inspection': INSPECTION,
  '--no-inspection': [FILES, ...INSPECTION.flatMap((folder) => ['--exclude', `${folder}**`])],
};
const words = process.argv.slice(2);
const chosen = words.flatMap((word) => PARTS[word] ?? []);

const root = fileURLToPath(new URL('..', import.meta.url));
const tsx = fileURLToPath(import.meta.resolve('tsx'));
const vitest = fileURLToPath(new URL('../node_modules/vitest/vitest.mjs', import.meta.url));

/** True if it ended well. */
function run(args: readonly string[], environment: NodeJS.ProcessEnv = {}): boolean {
  const { status } = spawnSync(process.execPath, args, {
    cwd: root,
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  return status === 0;
}

/** Each major's report in a file of its own: `servers.json` → `servers-14.json`. */
function reportOf(major: string): NodeJS.ProcessEnv {
  const report = process.env.PGTAIL_TEST_REPORT;
  if (report === undefined || report === '') return {};
  return { PGTAIL_TEST_REPORT: report.replace(/(\.json)?$/, `-${major}.json`) };
}

function testMajor(major: string): boolean {
  process.stdout.write(`\nPostgreSQL ${major}\n`);
  const all = Number(major) < FIRST_WITH_ALL ? [SCENARIOS] : [FILES];
  return run([vitest, 'run', ...(chosen.length > 0 ? chosen : all)], {
    PGTAIL_TEST_MAJOR: major,
    ...reportOf(major),
  });
}

const asked = words.filter((word) => PARTS[word] === undefined);
const majors = asked.length > 0 ? asked : MAJORS;
// 18 is a dependency of the project already.
const toFetch = majors.filter((major) => major !== '18');
const fetched =
  toFetch.length === 0 || run(['--import', tsx, 'scripts/fetch-servers.ts', ...toFetch]);
// All of them are run, so that one report shows every failure.
const failed = fetched ? majors.filter((major) => !testMajor(major)) : majors;
if (failed.length > 0) {
  process.stderr.write(`test-servers: failed on PostgreSQL ${failed.join(', ')}\n`);
  process.exitCode = 1;
}
