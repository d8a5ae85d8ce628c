// What pgoutput is asked for, by the server's major version.

import { describe, expect, it } from 'vitest';
import {
  hasLogicalMessages,
  pgoutputOptions,
  unsupportedOption,
} from '../../src/pgoutput/plugin-options.ts';

const request = {
  publications: ['shop'],
  messages: true,
  streaming: 'off',
  twoPhase: false,
  binary: false,
  origin: 'any',
} as const;

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

describe('an option of pgoutput', () => {
  it.each([
    ['off', undefined],
    ['on', 'on'],
    ['buffer', 'on'],
    ['parallel', 'parallel'],
  ] as const)('streaming %s is asked for as %s', (streaming, asked) => {
    expect(pgoutputOptions({ ...request, streaming }, 18).streaming).toBe(asked);
  });

  it('two_phase is never asked for unless it is wanted: it changes the slot for good', () => {
    expect(pgoutputOptions(request, 18)).not.toHaveProperty('two_phase');
    expect(pgoutputOptions({ ...request, twoPhase: true }, 18).two_phase).toBe('on');
  });

  it('binary and origin are asked for only if they are wanted', () => {
    expect(pgoutputOptions(request, 18)).not.toHaveProperty('binary');
    expect(pgoutputOptions(request, 18)).not.toHaveProperty('origin');
    const wanted = pgoutputOptions({ ...request, binary: true, origin: 'none' }, 18);
    expect(wanted).toMatchObject({ binary: 'true', origin: 'none' });
  });

  it.each([
    [{ binary: true }, '--binary', 14],
    [{ streaming: 'on' }, '--streaming on', 14],
    [{ streaming: 'buffer' }, '--streaming buffer', 14],
    [{ twoPhase: true }, '--two-phase', 15],
    [{ streaming: 'parallel' }, '--streaming parallel', 16],
    [{ origin: 'none' }, '--origin none', 16],
  ] as const)('%j is named with the first version that has it', (wanted, option, since) => {
    expect(unsupportedOption({ ...request, ...wanted }, since - 1)).toEqual({ option, since });
    expect(unsupportedOption({ ...request, ...wanted }, since)).toBeUndefined();
  });

  it('is unsupported nowhere if nothing special is wanted', () => {
    expect(unsupportedOption(request, 10)).toBeUndefined();
  });
});
