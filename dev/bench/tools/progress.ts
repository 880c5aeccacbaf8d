/** Shows the current step on one line of the terminal; prints nothing when stderr is not a terminal. */
export const progress = (text: string): void => {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[2K${text}`);
};
