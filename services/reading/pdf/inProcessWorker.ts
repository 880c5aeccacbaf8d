import { getResolvedPDFJS } from "unpdf";
import { copyMessage } from "./copyMessage.ts";

type Listener = (event: { data: unknown }) => void;

/** Operators of a page, as the parsing half of pdf.js sends them. */
interface Operators {
  chunk: { fnArray: unknown[]; argsArray: unknown[] };
}

const isOperators = (message: unknown): message is Operators =>
  Array.isArray((message as Partial<Operators> | null)?.chunk?.fnArray);

/**
 * Copies the two lists, because the parsing half empties them once they are sent; it does not change their elements. `without`: an
 * operator whose arguments are dropped.
 */
const copyOperators = ({ chunk, ...rest }: Operators, without: number | null): Operators => ({
  ...rest,
  chunk: {
    ...chunk,
    fnArray: [...chunk.fnArray],
    argsArray: chunk.argsArray.map((args, index) => (chunk.fnArray[index] === without ? null : args)),
  },
});

/**
 * Connects both halves of pdf.js in this process. pdf.js's own connection clones every glyph of every page, which takes an eighth of
 * the reading time (ADR 93).
 */
class Port {
  readonly #listeners = new Set<Listener>();
  readonly #without: number | null;

  constructor(without: number | null) {
    this.#without = without;
  }

  postMessage(message: unknown, transfer?: ArrayBuffer[]): void {
    const data = isOperators(message) ? copyOperators(message, this.#without) : copyMessage(message, transfer ?? []);
    queueMicrotask(() => {
      for (const listener of this.#listeners) listener({ data });
    });
  }

  addEventListener(_type: string, listener: Listener, { signal }: { signal?: AbortSignal } = {}): void {
    this.#listeners.add(listener);
    signal?.addEventListener("abort", () => this.#listeners.delete(listener), { once: true });
  }

  removeEventListener(_type: string, listener: Listener): void {
    this.#listeners.delete(listener);
  }
}

/** Both builds of pdf.js export their parsing half under this name. */
interface ParsingHalf {
  pdfjsWorker: { WorkerMessageHandler: { initializeFromPort(port: Port): void } };
}

/** A pdf.js worker for one file, without a thread. Without `paths` no lines and areas are kept, because those of a map take 500 MB. */
export async function inProcessWorker({ paths }: { paths: boolean }) {
  const { OPS, PDFWorker } = await getResolvedPDFJS();
  const port = new Port(paths ? null : OPS.constructPath);
  (globalThis as unknown as ParsingHalf).pdfjsWorker.WorkerMessageHandler.initializeFromPort(port);
  return PDFWorker.create({ port });
}
