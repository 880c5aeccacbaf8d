import { Worker } from "node:worker_threads";
import { type GrayPicture, RecognitionFailed, type RecognizedPicture } from "#services/reading/pictures/recognizer.ts";
import type { TesseractOptions } from "./tesseract.ts";

interface RecognizerOptions {
  languages: readonly string[];
  /** Processor time for one picture. Wall-clock time may be CLOCK_FACTOR times as long, because a busy machine shares its processors. */
  deadline_ms?: number;
  /** The program of the thread. */
  program?: URL;
}

const PROGRAM = new URL("./recognitionThread.ts", import.meta.url);
/** Four directions of the largest picture take 60 s. */
const DEADLINE_MS = 90_000;
const CLOCK_FACTOR = 5;
const CHECK_INTERVAL_MS = 500;
const UNREADABLE = "The picture could not be read.";
/** Maximum bytes that Tesseract may use; the largest picture takes 250 MB. */
const MEMORY = 600_000_000;

/** The thread ended: because of its picture, or because earlier ones had filled its memory. */
class ThreadEnded extends RecognitionFailed {}

/** Waits for the answer to one picture. Removes its listeners, so that the thread can be reused. */
const answerOf = (thread: Worker, deadline_ms: number): Promise<RecognizedPicture> =>
  new Promise((resolve, reject) => {
    const settle = (done: () => void): void => {
      clearInterval(check);
      clearTimeout(deadline);
      thread.off("message", onMessage).off("error", onError).off("exit", onExit);
      done();
    };
    const fail = (error: RecognitionFailed): void => settle(() => reject(error));
    const failLate = (): void => fail(new RecognitionFailed("Recognizing the text took too long."));
    // the rest of the process waits for the thread
    const start = process.cpuUsage();
    const check = setInterval(() => {
      const { user, system } = process.cpuUsage(start);
      if ((user + system) / 1_000 > deadline_ms) failLate();
    }, CHECK_INTERVAL_MS);
    const deadline = setTimeout(failLate, CLOCK_FACTOR * deadline_ms);
    const onMessage = (answer: RecognizedPicture): void => settle(() => resolve(answer));
    const onError = (cause: unknown): void => fail(new ThreadEnded(UNREADABLE, { cause }));
    const onExit = (): void => fail(new ThreadEnded(UNREADABLE));
    thread.on("message", onMessage).on("error", onError).on("exit", onExit);
  });

/**
 * Recognizes text in a thread, one picture at a time. The thread starts with the first picture. A picture that exhausts its time or
 * memory ends the thread, and the next one gets a new thread. A picture that ends a thread which has read others is tried once more in
 * a new one.
 */
export function createRecognizer({ languages, deadline_ms = DEADLINE_MS, program = PROGRAM }: RecognizerOptions) {
  let thread: Worker | undefined;
  const start = (): Worker => {
    const workerData: TesseractOptions = { languages, memory: MEMORY };
    const started = new Worker(program, { workerData });
    // an error between pictures surfaces with the next one, as an exit
    started
      .on("error", () => {})
      .once("exit", () => {
        if (thread === started) thread = undefined;
      });
    return started;
  };

  const send = async (picture: GrayPicture, transferred: ArrayBuffer[]): Promise<RecognizedPicture> => {
    thread ??= start();
    const current = thread;
    const answer = answerOf(current, deadline_ms);
    current.postMessage(picture, transferred);
    try {
      return await answer;
    } catch (error) {
      thread = undefined;
      await current.terminate();
      throw error;
    }
  };

  return {
    async recognize(picture: GrayPicture): Promise<RecognizedPicture> {
      const buffer = picture.pixels.buffer as ArrayBuffer;
      if (!thread) return send(picture, [buffer]);
      try {
        return await send(picture, []);
      } catch (error) {
        if (!(error instanceof ThreadEnded)) throw error;
        return send(picture, [buffer]);
      }
    },
    /** Ends the thread. */
    async close(): Promise<void> {
      await thread?.terminate();
    },
  };
}
