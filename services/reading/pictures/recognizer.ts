import type { OnProgress } from "../reader.ts";

/* The port for recognizing text in pictures. infra/readers/recognition implements it with a thread that a hostile picture may exhaust. */

/** A picture in shades of grey, row by row, from 0 (black) to 255 (white). */
export interface GrayPicture {
  width: number;
  height: number;
  pixels: Uint8Array;
}

export interface RecognizedWord {
  text: string;
  /** Left and right edge, in pixels. */
  x0: number;
  x1: number;
  /** From 0 to 100. */
  confidence: number;
}

/** A line of text, in pixels of the upright picture, y down. */
export interface RecognizedLine {
  words: RecognizedWord[];
  /** y of the baseline in the middle of the line. */
  baseline: number;
  /** Height of its text, from descenders to ascenders. */
  size: number;
}

/** A drawn line in pixels: `at` is its position, `from` and `to` its extent. */
export interface DrawnLine {
  at: number;
  from: number;
  to: number;
}

export interface DrawnLines {
  /** Horizontal. */
  across: DrawnLine[];
  /** Vertical. */
  down: DrawnLine[];
}

export interface RecognizedPicture {
  /** Size of the upright picture, in pixels. */
  width: number;
  height: number;
  /** By paragraph. */
  paragraphs: RecognizedLine[][];
  drawn: DrawnLines;
  /** Mean confidence of its characters, from 0 to 100. */
  confidence: number;
}

/** This picture cannot be recognized; the recognizer continues with the next one. */
export class RecognitionFailed extends Error {
  override name = "RecognitionFailed";
}

export interface Recognizer {
  /** Finds the text of a picture, which may lie on its side or upside down. Throws RecognitionFailed. Transfers `pixels`, which the caller cannot use afterwards. */
  recognize(picture: GrayPicture): Promise<RecognizedPicture>;
}

/** What a reader may do with pictures. */
export interface RecognitionOptions {
  recognizer: Recognizer;
  /** Pages that it may recognize. */
  pages: number;
  onProgress?: OnProgress | undefined;
}
