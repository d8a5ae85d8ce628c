// Draws coloured terminal output as an SVG: a window with the text in it, for the README.
// Usage: pgtail … --color always | npx tsx scripts/screenshot.ts [out.svg] [--title TEXT]
// https://en.wikipedia.org/wiki/ANSI_escape_code#SGR tells what the numbers mean.

import { readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { displayWidth, graphemes, graphemeWidth } from '../src/terminal/width.ts';

const FONT_SIZE = 14;
const CELL = { width: 8.43, height: 20 };
const MARGIN = 20;
const TITLE_BAR = 36;

const BACKGROUND = '#16181d';
const FOREGROUND = '#d7dae0';
const BAR = '#22252c';
const BUTTONS = ['#ff5f57', '#febc2e', '#28c840'];
const DIM_OPACITY = 0.55;

const SIXTEEN = [
  '#3b4048',
  '#f0717b',
  '#98c379',
  '#e5c07b',
  '#6cb6ff',
  '#d78de8',
  '#56c8d8',
  '#d7dae0',
  '#7f8794',
  '#ff8b92',
  '#b5e890',
  '#ffd68a',
  '#8fc9ff',
  '#e6a9f2',
  '#7fe0ec',
  '#ffffff',
];

interface Style {
  readonly color: string | undefined;
  readonly bold: boolean;
  readonly dim: boolean;
  readonly italic: boolean;
  readonly underline: boolean;
  readonly inverse: boolean;
  readonly strike: boolean;
}

const PLAIN: Style = {
  color: undefined,
  bold: false,
  dim: false,
  italic: false,
  underline: false,
  inverse: false,
  strike: false,
};

const ATTRIBUTES: Readonly<Record<number, Partial<Style>>> = {
  0: PLAIN,
  1: { bold: true },
  2: { dim: true },
  3: { italic: true },
  4: { underline: true },
  7: { inverse: true },
  9: { strike: true },
  22: { bold: false, dim: false },
  23: { italic: false },
  24: { underline: false },
  27: { inverse: false },
  29: { strike: false },
  39: { color: undefined },
};

interface Run {
  readonly text: string;
  readonly style: Style;
}

/** Splits text into lines of equally styled runs; a style goes on over line breaks. */
export function parseSgr(text: string): Run[][] {
  let style = PLAIN;
  return text.split(/\r?\n/).map((line) => {
    const runs: Run[] = [];
    for (const [, codes, plain] of line.matchAll(/\x1b\[([\d;]*)m|([^\x1b]+)/g)) {
      if (plain === undefined) style = applySgr(style, (codes || '0').split(';').map(Number));
      else runs.push({ text: plain, style });
    }
    return runs;
  });
}

function applySgr(before: Style, codes: number[]): Style {
  let style = before;
  for (let i = 0; i < codes.length; i++) {
    const code = codes[i]!;
    if (code === 38) {
      const isTrueColor = codes[i + 1] === 2;
      const color = isTrueColor ? rgb(codes.slice(i + 2, i + 5)) : paletteColor(codes[i + 2] ?? 0);
      style = { ...style, color };
      i += isTrueColor ? 4 : 2;
    } else if (code >= 30 && code <= 37) style = { ...style, color: SIXTEEN[code - 30] };
    else if (code >= 90 && code <= 97) style = { ...style, color: SIXTEEN[code - 82] };
    else style = { ...style, ...ATTRIBUTES[code] };
  }
  return style;
}

/** The 256 colours: the sixteen, a cube of 6 × 6 × 6, and 24 greys. */
function paletteColor(index: number): string {
  if (index < 16) return SIXTEEN[index]!;
  if (index >= 232) return rgb(Array(3).fill(8 + (index - 232) * 10));
  const level = (n: number): number => (n === 0 ? 0 : 55 + n * 40);
  const cube = index - 16;
  return rgb([Math.trunc(cube / 36), Math.trunc(cube / 6) % 6, cube % 6].map(level));
}

function rgb(channels: readonly number[]): string {
  return `#${channels.map((n) => n.toString(16).padStart(2, '0')).join('')}`;
}

/** The whole picture. */
export function screenshot(text: string, title: string): string {
  const lines = parseSgr(text.replace(/\n+$/, ''));
  const columns = Math.max(...lines.map((runs) => displayWidth(runs.map((r) => r.text).join(''))));
  const width = Math.ceil(columns * CELL.width) + 2 * MARGIN;
  const height = TITLE_BAR + lines.length * CELL.height + 2 * MARGIN - 8;
  const body = lines.map((runs, row) => drawLine(runs, row)).join('');
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">
<rect width="${width}" height="${height}" rx="10" fill="${BACKGROUND}"/>
<path d="M0 ${TITLE_BAR}V10a10 10 0 0 1 10-10H${width - 10}a10 10 0 0 1 10 10V${TITLE_BAR}z" fill="${BAR}"/>
${BUTTONS.map((fill, i) => `<circle cx="${20 + i * 20}" cy="18" r="6" fill="${fill}"/>`).join('')}
<g font-family="ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono','Liberation Mono',monospace" font-size="${FONT_SIZE}" xml:space="preserve">
<text x="${width / 2}" y="23" text-anchor="middle" fill="#9aa1ad" font-size="12.5">${escapeXml(title)}</text>
${body}</g>
</svg>
`;
}

function drawLine(runs: readonly Run[], row: number): string {
  const baseline = TITLE_BAR + MARGIN + row * CELL.height + 10;
  let column = 0;
  let line = '';
  for (const run of runs) {
    line += drawRun(run, column, baseline);
    column += displayWidth(run.text);
  }
  return line === '' ? '' : `${line}\n`;
}

/** Each run is put on the grid by itself, so that no font's own widths add up to a drift. */
function drawRun({ text, style }: Run, column: number, baseline: number): string {
  if (text.trim() === '' && !style.inverse) return '';
  const x = round(MARGIN + column * CELL.width);
  const length = round(displayWidth(text) * CELL.width);
  const color = style.color ?? FOREGROUND;
  const box = style.inverse
    ? `<rect x="${x}" y="${baseline - 14}" width="${length}" height="18" rx="2" fill="${color}"/>`
    : '';
  const attributes = [
    `x="${isWideText(text) ? gridPositions(text, column) : x}"`,
    `y="${baseline}"`,
    isWideText(text) ? '' : `textLength="${length}"`,
    `fill="${style.inverse ? BACKGROUND : color}"`,
    style.bold ? 'font-weight="bold"' : '',
    style.italic ? 'font-style="italic"' : '',
    style.dim ? `opacity="${DIM_OPACITY}"` : '',
    decoration(style),
  ];
  return `${box}<text ${attributes.filter((a) => a !== '').join(' ')}>${escapeXml(text)}</text>`;
}

function decoration({ underline, strike }: Style): string {
  const lines = [underline ? 'underline' : '', strike ? 'line-through' : ''].join(' ').trim();
  return lines === '' ? '' : `text-decoration="${lines}"`;
}

function isWideText(text: string): boolean {
  return displayWidth(text) !== text.length;
}

/** One x for each UTF-16 unit's grapheme: wide characters stand where a terminal puts them. */
function gridPositions(text: string, column: number): string {
  const positions: number[] = [];
  let at = column;
  for (const grapheme of graphemes(text)) {
    for (const _ of grapheme) positions.push(round(MARGIN + at * CELL.width));
    at += graphemeWidth(grapheme);
  }
  return positions.join(' ');
}

function round(n: number): number {
  return Math.round(n * 100) / 100;
}

function escapeXml(text: string): string {
  const shown = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  // leading and repeated spaces stay also where xml:space is not honoured
  return shown.replaceAll(' ', '\u00a0');
}

function main(): void {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { title: { type: 'string', default: 'pgtail' } },
  });
  const svg = screenshot(readFileSync(0, 'utf8'), values.title);
  const [path] = positionals;
  if (path === undefined) process.stdout.write(svg);
  else writeFileSync(path, svg);
}

main();
