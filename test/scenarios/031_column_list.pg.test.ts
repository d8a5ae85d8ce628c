// After 031_column_list: a publication may show some columns of a table only.

import { describe, expect, it } from 'vitest';
import { Publisher } from '../support/publisher.ts';
import { sharedServer } from '../support/server.ts';

const { major } = sharedServer();

describe.runIf(major >= 15)('a column list', () => {
  it('shows its columns, in the order of the table', async () => {
    await using shop = await Publisher.open({
      schema: `CREATE TABLE customers (secret text, name text, id int PRIMARY KEY, born date);
        ALTER TABLE customers ALTER secret SET STORAGE EXTERNAL`,
      publications: { shop: 'FOR TABLE customers (id, name)' },
    });
    await shop.commit(
      `INSERT INTO customers VALUES (repeat('s', 9000), 'Ada', 1, '1815-12-10'), (NULL, NULL, 2, NULL)`,
      `UPDATE customers SET secret = 'known' WHERE id = 1`,
      `UPDATE customers SET name = 'Grace', id = 3 WHERE id = 2`,
      `ALTER TABLE customers ADD COLUMN town text; UPDATE customers SET town = 'Oslo'`,
    );
    const { plain } = await shop.readInEveryMode({
      tables: { 'public.customers': 'SELECT name, id FROM customers' },
    });
    expect(JSON.stringify(plain)).not.toMatch(/sss|known|1815|Oslo/);
    const relations = plain.filter(({ op }) => op === 'relation');
    expect(relations).toHaveLength(1);
  });

  it('with a type of the server’s own outside of it does not keep --binary off', async () => {
    await using shop = await Publisher.open({
      schema: 'CREATE TABLE invoices (id int PRIMARY KEY, note text, amount money)',
      publications: { shop: 'FOR TABLE invoices (id, note)' },
    });
    await shop.commit(`INSERT INTO invoices VALUES (1, 'tea', 12.5)`);
    const { code, stdout, stderr } = await shop.run(shop.slot, ['--binary']);
    expect(code).toBe(0);
    expect(stdout).toContain('"new":{"id":1,"note":"tea"}');
    expect(stderr).not.toMatch(/left off/);
  });

  it('that differs between two publications is the server’s error, told with its reason', async () => {
    await using shop = await Publisher.open({
      schema: 'CREATE TABLE customers (id int PRIMARY KEY, name text, born date)',
      publications: {
        names: 'FOR TABLE customers (id, name)',
        dates: 'FOR TABLE customers (id, born)',
      },
    });
    await shop.commit(`INSERT INTO customers VALUES (1, 'Ada', '1815-12-10')`);
    const { code, stdout, stderr } = await shop.run(shop.slot);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(/cannot use different column lists for table "public\.customers"/);
  });
});
