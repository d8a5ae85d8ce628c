// How the tests run: one shared PostgreSQL server for all of them, every file in its own worker.

import { defineConfig } from 'vitest/config';

const allScenarios = process.env.PGTAIL_TEST_MAJOR !== undefined;
const withFaults = process.env.PGTAIL_TEST_FAULTS !== undefined;
const report = process.env.PGTAIL_TEST_REPORT;

// biome-ignore lint/style/noDefaultExport: vitest reads the default export
export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // every scenario in every mode takes a while: `npm run test:servers` runs them, 18 included
    // and `npm run test:faults` the faults
    exclude: [
      ...(allScenarios ? [] : ['test/scenarios/**']),
      ...(withFaults ? [] : ['test/faults/*.pg.test.ts']),
    ],
    globalSetup: ['test/support/global-setup.ts'],
    setupFiles: ['test/support/whole-errors.ts'],
    // most of a test's time is a server's: on two cores the default would be one worker
    maxWorkers: 2,
    testTimeout: 120_000,
    hookTimeout: 60_000,
    reporters: report === undefined ? ['default'] : ['default', ['json', { outputFile: report }]],
  },
});
