// After 027_nosuperuser: a role needs REPLICATION and nothing else; what a role may not see in
// queries it is sent. The subscriber's own permissions are not pgtail's.

import { expect, it } from 'vitest';
import { runPgtail } from '../support/pgtail.ts';
import { Publisher } from '../support/publisher.ts';
import { sharedServer } from '../support/server.ts';
import { insertedIds } from '../support/tail.ts';

const { major } = sharedServer();

async function withRole(
  attributes: string,
  test: (shop: Publisher, args: readonly string[], role: string) => Promise<void>,
): Promise<void> {
  await using shop = await Publisher.open({
    schema: `CREATE TYPE mood AS ENUM ('calm', 'busy');
      CREATE TABLE orders (id int PRIMARY KEY, mood mood);
      REVOKE ALL ON orders FROM PUBLIC; ALTER TABLE orders ENABLE ROW LEVEL SECURITY`,
  });
  const role = `${shop.database.name}_reader`;
  await shop.commit(`CREATE ROLE ${role} LOGIN ${attributes}`);
  try {
    const args = shop.args().map((arg) => (arg === shop.database.user ? role : arg));
    await test(shop, [...args, '--no-follow'], role);
  } finally {
    await shop.commit(`DROP OWNED BY ${role}`, `DROP ROLE ${role}`);
  }
}

it('a role with REPLICATION and no privilege on the table reads it', async () => {
  await withRole('REPLICATION', async (shop, args) => {
    await shop.commit(`INSERT INTO orders VALUES (1, 'calm')`);
    const { code, stdout } = await runPgtail(args);
    expect({ code, ids: insertedIds(stdout) }).toEqual({ code: 0, ids: [1] });
    expect(stdout).toContain('"mood":"calm"');
  });
});

it.runIf(major >= 14)('and reads it in binary, and with every other option', async () => {
  await withRole('REPLICATION', async (shop, args) => {
    await shop.commit(`INSERT INTO orders VALUES (1, 'calm')`);
    const options = ['--binary', '--streaming', 'buffer'];
    if (major >= 15) options.push('--two-phase', '--yes');
    if (major >= 16) options.push('--origin', 'none');
    const { code, stdout, stderr } = await runPgtail([...args, ...options]);
    expect({ code, ids: insertedIds(stdout) }).toEqual({ code: 0, ids: [1] });
    expect(stderr).not.toMatch(/left off/);
    expect(stdout).toContain('"mood":"calm"');
  });
});

it('a role without REPLICATION is told so', async () => {
  await withRole('', async (_shop, args) => {
    const { code, stdout, stderr } = await runPgtail(args);
    expect({ code: code === 3 || code === 4, stdout }).toEqual({ code: true, stdout: '' });
    expect(stderr).toMatch(/REPLICATION|replication/);
  });
});
