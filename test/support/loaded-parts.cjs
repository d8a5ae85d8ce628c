// Loaded into pgtail before it starts: at the end it writes to the file LOADED_PARTS which of its own
// files and which of Node's modules have been loaded.

const { writeFileSync } = require('node:fs');

process.on('exit', () => {
  const parts = { files: Object.keys(require.cache), modules: process.moduleLoadList };
  writeFileSync(process.env.LOADED_PARTS, JSON.stringify(parts));
});
