// Findings: their order, what they mean for the exit code, and how they are shown.

import { describe, expect, it } from 'vitest';
import {
  type Finding,
  needsAttention,
  type Severity,
  worstFirst,
} from '../../src/findings/finding.ts';
import { findingLines } from '../../src/findings/pretty.ts';
import { findingSchema } from '../../src/findings/schema.ts';
import { createTheme } from '../../src/terminal/theme.ts';

const finding = (severity: Severity, name = 'audit'): Finding => ({
  id: 'slot-inactive-retains-wal',
  severity,
  subject: { kind: 'slot', name },
  fact: `slot "${name}" keeps 12.0 GB of WAL and nobody reads it`,
  consequence: 'the WAL grows without an end: a full disk stops the whole server',
  fix: [`SELECT pg_drop_replication_slot('${name}');`, 'SELECT pg_reload_conf();'],
});

const plain = { theme: createTheme(0), columns: 60 };

describe('findings', () => {
  it('stand with the worst first, else in their order', () => {
    const list = [
      finding('info'),
      finding('warning', 'a'),
      finding('error'),
      finding('warning', 'b'),
    ];
    expect(worstFirst(list).map(({ severity, subject }) => [severity, subject.name])).toEqual([
      ['error', 'audit'],
      ['warning', 'a'],
      ['warning', 'b'],
      ['info', 'audit'],
    ]);
  });

  it('need attention unless they only inform', () => {
    expect(needsAttention([])).toBe(false);
    expect(needsAttention([finding('info')])).toBe(false);
    expect(needsAttention([finding('info'), finding('warning')])).toBe(true);
    expect(needsAttention([finding('error')])).toBe(true);
  });

  it('have a schema that takes nothing else', () => {
    expect(findingSchema.parse(finding('error'))).toEqual(finding('error'));
    expect(findingSchema.safeParse({ ...finding('error'), more: 1 }).success).toBe(false);
    expect(findingSchema.safeParse({ ...finding('error'), id: 'Not Kebab' }).success).toBe(false);
    expect(findingSchema.safeParse({ ...finding('error'), fix: [] }).success).toBe(false);
  });
});

describe('a finding for people', () => {
  it('has a sign, the fact, and below it consequence and fix', () => {
    expect(findingLines(finding('error'), plain)).toEqual([
      '✗ slot "audit" keeps 12.0 GB of WAL and nobody reads it',
      '    the WAL grows without an end: a full disk stops the',
      '    whole server',
      `    fix: SELECT pg_drop_replication_slot('audit');`,
      '         SELECT pg_reload_conf();',
    ]);
    expect(findingLines(finding('warning'), plain)[0]).toMatch(/^! /);
    expect(findingLines(finding('info'), plain)[0]).toMatch(/^i /);
  });

  it('never breaks a fix, which is to be copied', () => {
    const lines = findingLines(finding('error'), { ...plain, columns: 40 });
    expect(lines).toContain(`    fix: SELECT pg_drop_replication_slot('audit');`);
  });

  it('shows no control character of a name', () => {
    const text = findingLines(finding('error', 'a\x1b[2J\u202e'), plain).join('');
    expect(text).not.toMatch(/[\x1b\u202e]/);
    expect(text).toContain('\\x1b[2J\\u{202e}');
  });
});
