import { expect, test, vi } from "vitest";
import { countLogBytes } from "./logBytes.ts";

test("the leader counts events, the values of runs and the texts of documents, each also if another one fails, until it stops", async () => {
  const stopping = new AbortController();
  const counted: string[] = [];
  const query = async (text: string): Promise<never[]> => {
    counted.push(text);
    if (text.includes("log_bytes_counted")) throw new Error("gone");
    return [];
  };
  const onError = vi.fn();
  const counting = countLogBytes({ db: { query }, onError }, stopping.signal);
  await vi.waitFor(() => expect(counted).toHaveLength(3));
  expect(counted).toEqual([
    expect.stringContaining("from log.events"),
    expect.stringContaining("from read.run_values"),
    expect.stringContaining("from read.readings"),
  ]);
  await vi.waitFor(() => expect(onError).toHaveBeenCalledOnce());
  stopping.abort();
  await counting;
});
