// Loaded into pgtail before it starts: notes how many bytes of each file are on the disk for sure,
// which is what a power cut leaves. A note is there before pgtail hears that the sync is done.

const fs = require('node:fs');

const { appendFileSync, fdatasync, fstatSync, fsyncSync, ftruncateSync } = fs;

/** One line each: the inode, and the bytes that are synced, or left. */
const note = ({ ino, size }) => appendFileSync(process.env.SYNC_NOTES, `${ino} ${size}\n`);

fs.fdatasync = (fd, callback) => {
  const before = fstatSync(fd);
  fdatasync(fd, (error) => {
    if (!error) note(before);
    callback(error);
  });
};

fs.fsyncSync = (fd) => {
  const before = fstatSync(fd);
  fsyncSync(fd);
  note(before);
};

fs.ftruncateSync = (fd, size) => {
  ftruncateSync(fd, size);
  appendFileSync(process.env.SYNC_NOTES, `${fstatSync(fd).ino} at most ${size}\n`);
};

require('node:module').syncBuiltinESMExports();
