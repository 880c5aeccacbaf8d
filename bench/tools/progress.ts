/** Says on one line of a terminal what is being done; silent elsewhere. */
export const progress = (text: string): void => {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[2K${text}`);
};
