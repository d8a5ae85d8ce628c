// What pgoutput is asked for, by the server's major version.

import { describe, expect, it } from 'vitest';
import { hasLogicalMessages, pgoutputOptions } from '../../src/pgoutput/plugin-options.ts';

const request = { publications: ['shop'], messages: true };

describe('the options of pgoutput', () => {
  it.each([
    [10, '1'],
    [13, '1'],
    [14, '2'],
    [15, '3'],
    [16, '4'],
    [18, '4'],
    [19, '4'],
  ])('ask server %d for protocol version %s', (major, version) => {
    expect(pgoutputOptions(request, major).proto_version).toBe(version);
  });

  it('ask for logical messages only where the server has them and they are wanted', () => {
    expect(pgoutputOptions(request, 13)).not.toHaveProperty('messages');
    expect(pgoutputOptions(request, 14)).toHaveProperty('messages', 'true');
    const unwanted = { ...request, messages: false };
    expect(pgoutputOptions(unwanted, 18)).not.toHaveProperty('messages');
    expect([hasLogicalMessages(13), hasLogicalMessages(14)]).toEqual([false, true]);
  });

  it('quote every publication name as an identifier, so that none is folded or split', () => {
    const publications = ['shop', 'My"Pub', 'a,b', "it's", 'Ünï \\'];
    expect(pgoutputOptions({ ...request, publications }, 18).publication_names).toBe(
      `"shop","My""Pub","a,b","it's","Ünï \\"`,
    );
  });
});
