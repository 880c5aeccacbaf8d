import { Worker } from "node:worker_threads";
import { type GrayPicture, RecognitionFailed, type RecognizedPicture } from "#services/reading/pictures/recognizer.ts";
import type { TesseractOptions } from "./tesseract.ts";

interface RecognizerOptions {
  languages: readonly string[];
  /** Processor time for one picture. Wall-clock time may be CLOCK_FACTOR times as long, because a busy machine shares its processors. */
  deadline_ms?: number;
}

const PROGRAM = new URL("./recognitionThread.ts", import.meta.url);
/** Four directions of the largest picture take 60 s. */
const DEADLINE_MS = 90_000;
const CLOCK_FACTOR = 5;
const CHECK_INTERVAL_MS = 500;
/** Maximum bytes that Tesseract may use; the largest picture takes 250 MB. */
const MEMORY = 600_000_000;

/** Waits for the answer to one picture. Removes its listeners, so that the thread can be reused. */
const answerOf = (thread: Worker, deadline_ms: number): Promise<RecognizedPicture> =>
  new Promise((resolve, reject) => {
    const settle = (done: () => void): void => {
      clearInterval(check);
      clearTimeout(deadline);
      thread.off("message", onMessage).off("error", onError).off("exit", onExit);
      done();
    };
    const fail = (reason: string, cause?: unknown): void =>
      settle(() => reject(new RecognitionFailed(reason, { cause })));
    const failLate = (): void => fail("Recognizing the text took too long.");
    // the rest of the process waits for the thread
    const start = process.cpuUsage();
    const check = setInterval(() => {
      const { user, system } = process.cpuUsage(start);
      if ((user + system) / 1_000 > deadline_ms) failLate();
    }, CHECK_INTERVAL_MS);
    const deadline = setTimeout(failLate, CLOCK_FACTOR * deadline_ms);
    const onMessage = (answer: RecognizedPicture): void => settle(() => resolve(answer));
    const onError = (error: unknown): void => fail("The picture could not be read.", error);
    const onExit = (): void => fail("The picture could not be read.");
    thread.on("message", onMessage).on("error", onError).on("exit", onExit);
  });

/**
 * Recognizes text in a thread, one picture at a time. The thread starts with the first picture. A picture that exhausts its time or
 * memory ends the thread, and the next one gets a new thread.
 */
export function createRecognizer({ languages, deadline_ms = DEADLINE_MS }: RecognizerOptions) {
  let thread: Worker | undefined;
  const start = (): Worker => {
    const workerData: TesseractOptions = { languages, memory: MEMORY };
    const started = new Worker(PROGRAM, { workerData });
    // an error between pictures surfaces with the next one, as an exit
    started
      .on("error", () => {})
      .once("exit", () => {
        if (thread === started) thread = undefined;
      });
    return started;
  };

  return {
    async recognize(picture: GrayPicture): Promise<RecognizedPicture> {
      thread ??= start();
      const current = thread;
      const answer = answerOf(current, deadline_ms);
      current.postMessage(picture, [picture.pixels.buffer as ArrayBuffer]);
      try {
        return await answer;
      } catch (error) {
        thread = undefined;
        await current.terminate();
        throw error;
      }
    },
    /** Ends the thread. */
    async close(): Promise<void> {
      await thread?.terminate();
    },
  };
}
