// The startup packet's options, as pg_split_opts() of the server takes them apart.

import { describe, expect, it } from 'vitest';
import { startupOptions } from '../../src/walsender/pinned-settings.ts';

/** Parted at white space, where a backslash takes the next character as it is. */
function serverWords(options: string): string[] {
  const words = options.match(/(?:\\[\s\S]|[^\s\\])+/g) ?? [];
  return words.map((word) => word.replaceAll(/\\([\s\S])/g, '$1'));
}

describe('the startup options', () => {
  it('hold the time zone after what the user asks for', () => {
    const words = serverWords(startupOptions('-c TimeZone=CET', 'Europe/Berlin'));
    expect(words.slice(0, 2)).toEqual(['-c', 'TimeZone=CET']);
    expect(words.slice(-2)).toEqual(['-c', 'TimeZone=Europe/Berlin']);
  });

  it.each(['UTC -c a=b', '\\ -c a=b', 'UTC\\\\ -ca=b', 'UTC\n-c\ta=b', '\\'])(
    'keep %j one value',
    (zone) => {
      const words = serverWords(startupOptions('', zone));
      expect(words.at(-1)).toBe(`TimeZone=${zone}`);
      expect(words).toHaveLength(serverWords(startupOptions('', 'UTC')).length);
    },
  );
});
