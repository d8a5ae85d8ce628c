// Runs the fault test: npm run test:faults [-- --faults 200 --seed 7]

import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const { values } = parseArgs({
  options: { faults: { type: 'string', default: '20' }, seed: { type: 'string' } },
});
const vitest = fileURLToPath(new URL('../node_modules/vitest/vitest.mjs', import.meta.url));
const { status } = spawnSync(
  process.execPath,
  [vitest, 'run', 'test/faults/faults.pg.test.ts', '--disable-console-intercept'],
  {
    cwd: fileURLToPath(new URL('..', import.meta.url)),
    env: {
      ...process.env,
      PGTAIL_TEST_FAULTS: values.faults,
      ...(values.seed === undefined ? {} : { PGTAIL_TEST_SEED: values.seed }),
    },
    stdio: ['ignore', 'inherit', 'inherit'],
  },
);
process.exitCode = status ?? 1;
