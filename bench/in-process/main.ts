// npm run bench: what a row costs without server and output, beside two references.

import { parseArgs } from 'node:util';
import { machineLine, thisMachine } from '../measure/machine.ts';
import { CONTESTANTS, type Contestant } from './contestants.ts';
import { type Recording, readRecording, type TupleFormat } from './recording.ts';
import { type Figure, figuresTable, verdicts } from './report.ts';
import { measureInTurn, type RoundOptions } from './rounds.ts';
import { ROW_SHAPES } from './shapes.ts';

const USAGE = `npm run bench -- [OPTIONS]
  --shapes LIST         of ${ROW_SHAPES.map(({ name }) => name).join(',')} (all)
  --contestants LIST    of ${CONTESTANTS.map(({ name }) => name).join(',')} (all)
  --rounds N            (9)
  --check               only what is compared; exit code 1 if ndjson is too slow
  --json                results as JSON, the table on standard error
`;

const WHOLE = { rounds: '9', slice: 50, warmUp: 200 };
const CHECKED = ['ndjson', 'objects', 'plugin'];

const { values } = parseArgs({
  options: {
    fixtures: { type: 'string', default: 'bench/fixtures' },
    shapes: { type: 'string' },
    contestants: { type: 'string' },
    rounds: { type: 'string', default: WHOLE.rounds },
    check: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

function bench(): void {
  const { slice, warmUp } = WHOLE;
  const rounds = Number(values.rounds);
  const options = { rounds, slice, warmUp, clock: cpuMilliseconds };
  const names = values.contestants?.split(',') ?? (values.check ? CHECKED : undefined);
  const contestants = named(CONTESTANTS, names);
  const shapes = named(ROW_SHAPES, values.shapes?.split(','));
  const figures = shapes.flatMap(({ name }) => shapeFigures(name, contestants, options));
  report(figures);
}

/** Not the time on the wall: what else the machine does is no concern of ours. */
function cpuMilliseconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

function named<T extends { readonly name: string }>(
  all: readonly T[],
  names: readonly string[] | undefined,
): readonly T[] {
  const unknown = names?.find((name) => !all.some((each) => each.name === name));
  if (unknown === undefined) return all.filter(({ name }) => names?.includes(name) ?? true);
  throw new Error(`no "${unknown}": there are ${all.map(({ name }) => name).join(', ')}`);
}

function shapeFigures(
  shape: string,
  contestants: readonly Contestant[],
  options: RoundOptions,
): Figure[] {
  const recordings: Record<TupleFormat, Recording> = {
    text: readRecording(values.fixtures, shape, 'text'),
    binary: readRecording(values.fixtures, shape, 'binary'),
  };
  const work = contestants.map((each) => [each.name, played(each, recordings[each.tuples])]);
  const times: Record<string, number> = measureInTurn(Object.fromEntries(work), options);
  return contestants.map(({ name, tuples }) =>
    figure(shape, name, recordings[tuples], times[name]!),
  );
}

/** One repetition: a transaction on a connection that has announced its tables already. */
function played({ newReader }: Contestant, { messages, repeated }: Recording): () => void {
  const reader = newReader();
  reader.read(messages);
  return () => reader.read(repeated);
}

function figure(shape: string, contestant: string, recording: Recording, ms: number): Figure {
  const seconds = ms / 1000;
  return {
    shape,
    contestant,
    nsPerRow: (ms * 1e6) / recording.rows,
    rowsPerSecond: recording.rows / seconds,
    megabytesPerSecond: recording.bytes / 1e6 / seconds,
  };
}

function report(figures: readonly Figure[]): void {
  const machine = thisMachine(new Date());
  const print = values.json ? process.stderr : process.stdout;
  const all = verdicts(figures);
  print.write(`${machineLine(machine)}\n${figuresTable(figures)}\n`);
  for (const { text } of all) print.write(text);
  if (values.json) process.stdout.write(`${JSON.stringify({ machine, figures }, null, 2)}\n`);
  if (values.check && !all.every(({ passed }) => passed)) process.exitCode = 1;
}

if (values.help) process.stdout.write(USAGE);
else bench();
