// Which PostgreSQL the tests run against: the package in node_modules, or a fetched other major.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findNativeDirectory, PLATFORM_PACKAGE } from '../../src/demo/binaries.ts';

const CACHE = fileURLToPath(new URL('../../.cache/servers', import.meta.url));

/** The `native` folder for `PGTAIL_TEST_MAJOR`; without it, the installed package's. */
export function nativeDirectory(major = process.env.PGTAIL_TEST_MAJOR): string {
  if (major === undefined || major === '' || major === '18') return findNativeDirectory();
  const folder = join(CACHE, major, 'node_modules', PLATFORM_PACKAGE, 'native');
  if (existsSync(folder)) return folder;
  throw new Error(`PostgreSQL ${major} is not here: run npx tsx scripts/fetch-servers.ts ${major}`);
}
