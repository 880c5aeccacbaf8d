import { Worker } from "node:worker_threads";
import { type GrayPicture, RecognitionFailed, type RecognizedPicture } from "#services/reading/pictures/recognizer.ts";
import type { TesseractOptions } from "./tesseract.ts";

interface RecognizerOptions {
  languages: readonly string[];
  /** Wall-clock time for one picture. */
  deadline_ms?: number;
}

const PROGRAM = new URL("./recognitionThread.ts", import.meta.url);
/** Four directions of the largest picture take 60 s; busy machines take longer. */
const DEADLINE_MS = 180_000;
/** Maximum bytes that Tesseract may use; the largest picture takes 250 MB. */
const MEMORY = 600_000_000;

/** Waits for the answer to one picture. Removes its listeners, so that the thread can be reused. */
const answerOf = (thread: Worker, deadline_ms: number): Promise<RecognizedPicture> =>
  new Promise((resolve, reject) => {
    const settle = (done: () => void): void => {
      clearTimeout(deadline);
      thread.off("message", onMessage).off("error", onError).off("exit", onExit);
      done();
    };
    const fail = (reason: string, cause?: unknown): void =>
      settle(() => reject(new RecognitionFailed(reason, { cause })));
    const deadline = setTimeout(() => fail("Recognizing the text took too long."), deadline_ms);
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
