#!/usr/bin/env node
// The program: hands over to main, which is built into dist/ by `npm run build`.

import { main } from '../dist/main.js';

await main(process.argv.slice(2));
