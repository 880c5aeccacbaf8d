import { expect, test } from "vitest";
import { RecognitionFailed } from "#services/reading/pictures/recognizer.ts";
import { createRecognizer } from "./createRecognizer.ts";

/** A thread that answers with the width of each picture, and ends when `endsAt` is true. */
const recognizerThatEnds = (endsAt: string) => {
  const code = `
    import { parentPort } from "node:worker_threads";
    let seen = 0;
    parentPort.on("message", ({ width }) => {
      seen += 1;
      if (${endsAt}) throw new Error("memory");
      parentPort.postMessage({ width });
    });`;
  const program = new URL(`data:text/javascript,${encodeURIComponent(code)}`);
  return createRecognizer({ languages: ["eng"], program });
};

const pictureOf = (width: number) => ({ width, height: 1, pixels: new Uint8Array(width) });

test("a picture that ends a thread which has read others is read by a new one", async () => {
  const recognizer = recognizerThatEnds("seen === 3");
  for (const width of [1, 2, 3, 4, 5, 6]) expect(await recognizer.recognize(pictureOf(width))).toEqual({ width });
  await recognizer.close();
});

test("a picture that ends each thread fails, and the next one is read", async () => {
  const recognizer = recognizerThatEnds("width === 2");
  expect(await recognizer.recognize(pictureOf(1))).toEqual({ width: 1 });
  await expect(recognizer.recognize(pictureOf(2))).rejects.toThrow(RecognitionFailed);
  expect(await recognizer.recognize(pictureOf(3))).toEqual({ width: 3 });
  await recognizer.close();
});
