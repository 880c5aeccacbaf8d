import type { Worker } from "node:worker_threads";
import { createPause } from "#events/slices.ts";

/** Texts to count one after the other until they exceed `limit` tokens. */
export interface TokenQuestion {
  id: number;
  texts: string[];
  limit: number;
}
/** `units`: of all texts, or of the longest prefix within the limit. `tokens`: of the slices that fit completely. */
export interface TokenAnswer {
  id: number;
  tokens: number;
  units: number;
}

type Thread = Pick<Worker, "postMessage" | "ref" | "unref" | "on">;
type Ask = (question: Omit<TokenQuestion, "id">) => Promise<TokenAnswer>;

/** Keeps the process alive only while a count is in progress. */
function listenTo(thread: Thread, onLost: () => void): Ask {
  const waiting = new Map<number, PromiseWithResolvers<TokenAnswer>>();
  let lastId = 0;
  const lose = (error: Error): void => {
    onLost();
    for (const { reject } of waiting.values()) reject(error);
    waiting.clear();
  };
  /** Answers that arrive together come in one callback, and each resumes a turn, so they share rounds of the event loop. */
  const deliver = async (answer: TokenAnswer): Promise<void> => {
    await createPause()();
    waiting.get(answer.id)?.resolve(answer);
    waiting.delete(answer.id);
    if (waiting.size === 0) thread.unref();
  };
  thread.unref();
  thread.on("message", (answer: TokenAnswer) => void deliver(answer));
  thread.on("error", (cause) => lose(new Error("The thread that counts tokens failed.", { cause })));
  thread.on("exit", () => lose(new Error("The thread that counts tokens ended.")));
  return (question) => {
    const id = ++lastId;
    const answered = Promise.withResolvers<TokenAnswer>();
    if (waiting.size === 0) thread.ref();
    waiting.set(id, answered);
    thread.postMessage({ id, ...question } satisfies TokenQuestion);
    return answered.promise;
  };
}

/** Asks a thread that starts with the first question. If it is lost, open questions fail, and the next question starts another one. */
export function openTokenThread(start: () => Thread): Ask {
  let current: Ask | undefined;
  const startThread = (): Ask => {
    // a failing thread also exits, when the next one may already have started
    const ask = listenTo(start(), () => (current = current === ask ? undefined : current));
    return ask;
  };
  return (question) => {
    current ??= startThread();
    return current(question);
  };
}
