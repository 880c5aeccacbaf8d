/** Maximum annotations of one page that are read. Ordinary pages have some hundreds of texts, links and fields. */
export const MAX_PAGE_ANNOTATIONS = 5_000;
/** Maximum annotations of one file. pdf.js takes up to 0.1 ms for each. */
const MAX_FILE_ANNOTATIONS = 100_000;
/** Maximum time for the annotations of a file, because their drawings may be large. */
const MAX_FILE_MS = 20_000;

/** The remaining budget of a file's annotations. */
export class AnnotationBudget {
  #left: number;
  #ms: number;

  constructor({ annotations = MAX_FILE_ANNOTATIONS, ms = MAX_FILE_MS } = {}) {
    this.#left = annotations;
    this.#ms = ms;
  }

  get isSpent(): boolean {
    return this.#left <= 0 || this.#ms <= 0;
  }

  /** Subtracts the costs of reading one page's annotations. */
  take(annotations: number, ms: number): void {
    this.#left -= annotations;
    this.#ms -= ms;
  }
}

/** An open file. */
interface Pdf {
  readonly numPages: number;
  getPage(number: number): Promise<unknown>;
}

/** A page in the parsing half of pdf.js, which computes this list on first access. */
interface ParsedPage {
  readonly annotations: readonly unknown[];
}

const findParsedPage = (target: object): object | null => {
  const prototype = Object.getPrototypeOf(target) as object | null;
  return prototype !== null && Object.hasOwn(prototype, "_parsedAnnotations") ? prototype : null;
};

/**
 * The prototype of pages in the parsing half, whose lazy properties are defined on first access. Null if pdf.js has changed, or if
 * all pages are damaged.
 */
async function catchPrototype(pdf: Pdf): Promise<object | null> {
  const define = Object.defineProperty;
  let found: object | null = null;
  Object.defineProperty = <T>(target: T, key: PropertyKey, descriptor: PropertyDescriptor & ThisType<unknown>): T => {
    found ??= findParsedPage(target as object);
    return define(target, key, descriptor);
  };
  try {
    // damaged pages have no annotations
    for (let number = 1; number <= pdf.numPages && found === null; number++)
      await pdf.getPage(number).catch(() => null);
  } finally {
    Object.defineProperty = define;
  }
  return found;
}

/** Builds of pdf.js whose pages are already limited. */
const limited = new Set<string>();

/**
 * Limits the lists of annotations in this process. pdf.js parses all annotations of a page before it returns one, and before it
 * returns the page's operators: 300,000 take half a minute. One more than the limit is kept, which shows that there were more.
 */
export async function limitAnnotations(pdf: Pdf, build: string): Promise<void> {
  if (limited.has(build)) return;
  const prototype = await catchPrototype(pdf);
  const { get } = (prototype && Object.getOwnPropertyDescriptor(prototype, "annotations")) ?? {};
  if (!prototype || !get) return;
  limited.add(build);
  Object.defineProperty(prototype, "annotations", {
    configurable: true,
    get(this: ParsedPage) {
      const value = (Reflect.apply(get, this, []) as readonly unknown[]).slice(0, MAX_PAGE_ANNOTATIONS + 1);
      Object.defineProperty(this, "annotations", { value, configurable: true });
      return value;
    },
  });
}
