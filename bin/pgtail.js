#!/usr/bin/env node
// The program: hands over to main, which is built into dist/ by `npm run build`.

const { main } = require('../dist/main.cjs');

main(process.argv.slice(2));
