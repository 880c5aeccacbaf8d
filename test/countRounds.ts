/** Counts the rounds of the event loop until the work ends. */
export async function countRounds(work: Promise<unknown>): Promise<number> {
  let [isOver, rounds] = [false, 0];
  const count = (): void => {
    rounds += 1;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  await work;
  isOver = true;
  return rounds;
}
