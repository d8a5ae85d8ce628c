// A standby has the tables of its primary, but counts no changes, and nothing can be tried on it.

import { describe, expect, it } from 'vitest';
import { identitySchema } from '../../src/identity/schema.ts';
import { runPgtail } from '../support/pgtail.ts';
import { startPrivateServer } from '../support/private-server.ts';
import { sharedServer, TestDatabase } from '../support/server.ts';
import { FIRST_WITH_STANDBY_SIGNAL, startStandby } from '../support/standby.ts';
import { until } from '../support/until.ts';

describe.runIf(sharedServer().major >= FIRST_WITH_STANDBY_SIGNAL)('a standby', () => {
  it('is looked at as its primary is, and measures nothing', async () => {
    await using primary = await startPrivateServer();
    await using standby = await startStandby(primary);
    const shop = await TestDatabase.create(primary);
    await shop.sql('CREATE TABLE orders (id int); CREATE PUBLICATION shop FOR TABLE orders');
    const args = [...shop.options.slice(0, 3), String(standby.port), ...shop.options.slice(4)];
    const look = (...more: readonly string[]) =>
      runPgtail(['identity', '--format', 'json', ...args, ...more]);
    const { code, stdout } = await until(
      async () => {
        const result = await look('-P', 'shop');
        return result.stdout === '' ? undefined : result;
      },
      { what: 'the standby to have the table' },
    );
    expect(code).toBe(4);
    const { server, tables, findings } = identitySchema.parse(JSON.parse(stdout));
    expect(server.in_recovery).toBe(true);
    expect(findings[0]?.id).toBe('identity-missing');
    expect(tables[0]?.full_price).toEqual({ bytes: 12 });
    const whatIf = await look('--what-if', 'orders');
    expect(whatIf.code).toBe(4);
    expect(whatIf.stderr).toContain('--what-if cannot measure on a standby');
    await shop.drop();
  });
});
