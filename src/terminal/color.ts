// Decides how many colours to use, from the flag, the environment and the output; it reads nothing
// by itself. https://no-color.org and https://force-color.org say what the variables mean.

/** 0 none, 1 the sixteen of every terminal, 2 the 256, 3 true colour. */
export type ColorLevel = 0 | 1 | 2 | 3;

export type ColorFlag = 'auto' | 'always' | 'never';

export interface ColorCircumstances {
  readonly flag: ColorFlag;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Whether the output that is to be coloured is a terminal. */
  readonly isTTY: boolean;
}

/** The first that has something to say wins: --color, NO_COLOR, FORCE_COLOR, terminal and TERM. */
export function decideColorLevel({ flag, env, isTTY }: ColorCircumstances): ColorLevel {
  if (flag === 'never') return 0;
  if (flag === 'always') return forcedLevel(env) || capability(env);
  if (env.NO_COLOR !== undefined && env.NO_COLOR !== '') return 0;
  if (env.FORCE_COLOR !== undefined) return forcedLevel(env);
  if (!isTTY || env.TERM === 'dumb') return 0;
  return capability(env);
}

/** FORCE_COLOR names a level, says no, or (`true`, empty, anything else) leaves it to the rest. */
function forcedLevel(env: ColorCircumstances['env']): ColorLevel {
  switch (env.FORCE_COLOR) {
    case '0':
    case 'false':
      return 0;
    case '1':
      return 1;
    case '2':
      return 2;
    case '3':
      return 3;
    default:
      return capability(env);
  }
}

function capability(env: ColorCircumstances['env']): 1 | 2 | 3 {
  if (env.COLORTERM === 'truecolor' || env.COLORTERM === '24bit') return 3;
  if (env.TERM?.includes('256')) return 2;
  return 1;
}
