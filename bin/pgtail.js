#!/usr/bin/env node
// The program: hands over to main, which is built into dist/ by `npm run build`.

const { main } = built();

main(process.argv.slice(2));

/** Whoever has just cloned the repository has nothing to run yet. */
function built() {
  try {
    return require('../dist/main.cjs');
  } catch (error) {
    if (error.code !== 'MODULE_NOT_FOUND') throw error;
    process.stderr.write(
      'pgtail: not built yet: run `npm ci` in its folder, which installs and builds\n',
    );
    process.exit(1);
  }
}
