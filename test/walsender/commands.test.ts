// The text of commands: no name or value can leave its quotes.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { pgoutputOptions } from '../../src/pgoutput/plugin-options.ts';
import { quoteIdentifier } from '../../src/pgoutput/quote-identifier.ts';
import {
  createReplicationSlot,
  quoteLiteral,
  startReplication,
} from '../../src/walsender/commands.ts';

describe('START_REPLICATION', () => {
  it('names slot, position and options in the order given', () => {
    const options = { proto_version: '4', publication_names: '"shop"', messages: 'true' };
    expect(startReplication({ slot: 'tail', from: 0x16_b374d848n, options })).toBe(
      'START_REPLICATION SLOT "tail" LOGICAL 16/B374D848 ' +
        `(proto_version '4', publication_names '"shop"', messages 'true')`,
    );
  });

  it('quotes a publication twice: as an identifier, then as a string', () => {
    const options = pgoutputOptions(
      {
        publications: ['a', `My"Pub's\\`],
        messages: false,
        streaming: 'off',
        twoPhase: false,
        binary: false,
        origin: 'any',
      },
      18,
    );
    expect(startReplication({ slot: 'tail', from: 0n, options })).toBe(
      'START_REPLICATION SLOT "tail" LOGICAL 0/0 ' +
        `(proto_version '4', publication_names '"a","My""Pub''s\\"')`,
    );
  });

  it('keeps a slot name of any characters in its quotes', () => {
    const command = startReplication({ slot: '1"; DROP', from: 0n, options: {} });
    expect(command).toBe('START_REPLICATION SLOT "1""; DROP" LOGICAL 0/0 ()');
  });
});

describe('CREATE_REPLICATION_SLOT', () => {
  it('makes a lasting or a temporary slot without a snapshot', () => {
    expect(createReplicationSlot({ name: 'tail', temporary: false })).toBe(
      'CREATE_REPLICATION_SLOT "tail" LOGICAL pgoutput NOEXPORT_SNAPSHOT',
    );
    expect(createReplicationSlot({ name: 'tail', temporary: true })).toBe(
      'CREATE_REPLICATION_SLOT "tail" TEMPORARY LOGICAL pgoutput NOEXPORT_SNAPSHOT',
    );
  });
});

describe('quoting', () => {
  const hostile = fc.string({ unit: fc.constantFrom("'", '"', '\\', ';', ' ', 'a', '\n') });

  it('can be undone for any name', () => {
    fc.assert(
      fc.property(hostile, (name) => {
        const quoted = quoteIdentifier(name);
        expect(quoted).toMatch(/^"(?:[^"]|"")*"$/);
        expect(quoted.slice(1, -1).replaceAll('""', '"')).toBe(name);
      }),
    );
  });

  it('can be undone for any string constant', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        const quoted = quoteLiteral(text);
        const escaped = /^ E'((?:[^'\\]|''|\\\\)*)'$/.exec(quoted);
        const plain = /^'((?:[^'\\]|'')*)'$/.exec(quoted);
        const inside = (escaped ?? plain)![1]!.replaceAll("''", "'");
        expect(escaped ? inside.replaceAll('\\\\', '\\') : inside).toBe(text);
      }),
    );
  });
});
