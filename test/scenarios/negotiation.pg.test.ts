// What is asked of which server: an option that is newer than the server is said in one line.

import { describe, expect, it } from 'vitest';
import { Publisher } from '../support/publisher.ts';
import { sharedServer } from '../support/server.ts';

const { major } = sharedServer();

/** The first major that has what the options ask for. */
const SINCE: readonly [since: number, named: string, ...options: readonly string[]][] = [
  [14, '--binary', '--binary'],
  [14, '--streaming on', '--streaming', 'on'],
  [14, '--streaming buffer', '--streaming', 'buffer'],
  [15, '--two-phase', '--two-phase', '--yes'],
  [16, '--streaming parallel', '--streaming', 'parallel'],
  [16, '--origin none', '--origin', 'none'],
];
const tooNew = SINCE.filter(([since]) => since > major);

describe.runIf(tooNew.length > 0)('an option that this server does not have', () => {
  it.each(tooNew)('since %i: %s', async (since, named, ...options) => {
    await using shop = await Publisher.open({ schema: 'CREATE TABLE orders (id int)' });
    const { code, stdout, stderr } = await shop.run(shop.slot, options);
    expect({ code, stdout }).toEqual({ code: 4, stdout: '' });
    expect(stderr.split('\n')).toEqual([
      `pgtail: ${named} needs PostgreSQL ${since} or newer, this server is ${major}`,
      '',
    ]);
  });
});

it('without options every server is asked only for what it has', async () => {
  await using shop = await Publisher.open({ schema: 'CREATE TABLE orders (id int PRIMARY KEY)' });
  await shop.commit('INSERT INTO orders VALUES (1)');
  const { code, stdout, stderr } = await shop.run(shop.slot);
  expect({ code, lines: stdout.match(/"op":"\w+"/g) }).toEqual({
    code: 0,
    lines: ['"op":"begin"', '"op":"relation"', '"op":"insert"', '"op":"commit"'],
  });
  expect(stderr).toMatch(
    new RegExp(`^pgtail: publication .*PostgreSQL ${major}\npgtail: slot .+ stays, .+\n$`),
  );
});
