import { readFileSync } from "node:fs";
import type { TypedScript } from "#http/base/typeChecker.ts";
import { schemaType } from "./schemaType.ts";

/* The globals of scripts besides the language itself. Their VMs have neither a browser's nor Node's globals. */

const WORKFLOW = new URL("../../../examples/workflow.d.ts", import.meta.url);

/** Globals of every VM (quickjs). */
const EVERYWHERE = `
declare function queueMicrotask(callback: () => void): void;
declare function atob(text: string): string;
declare function btoa(text: string): string;
declare class DOMException extends Error { constructor(message?: string, name?: string); readonly code: number }
`;

/** Globals of workflows (webGuest.ts). At run time, only steps have timers and the random functions of `crypto`. */
const WEB = `
type SvcBytes = ArrayBuffer | ArrayBufferView;
declare class URLSearchParams {
  constructor(init?: string | Record<string, string> | Iterable<[string, string]> | URLSearchParams);
  readonly size: number;
  append(name: string, value: string): void;
  delete(name: string, value?: string): void;
  get(name: string): string | null;
  getAll(name: string): string[];
  has(name: string, value?: string): boolean;
  set(name: string, value: string): void;
  sort(): void;
  forEach(callback: (value: string, name: string, all: URLSearchParams) => void): void;
  keys(): IterableIterator<string>;
  values(): IterableIterator<string>;
  entries(): IterableIterator<[string, string]>;
  [Symbol.iterator](): IterableIterator<[string, string]>;
  toString(): string;
}
declare class URL {
  constructor(url: string | URL, base?: string | URL);
  static canParse(url: string, base?: string): boolean;
  static parse(url: string, base?: string): URL | null;
  hash: string; host: string; hostname: string; href: string; password: string; pathname: string; port: string;
  protocol: string; search: string; username: string;
  readonly origin: string;
  readonly searchParams: URLSearchParams;
  toString(): string;
  toJSON(): string;
}
declare class TextEncoder { readonly encoding: string; encode(text?: string): Uint8Array }
declare class TextDecoder {
  constructor(label?: string, options?: { fatal?: boolean; ignoreBOM?: boolean });
  readonly encoding: string;
  decode(bytes?: SvcBytes): string;
}
declare const console: Record<"log" | "info" | "warn" | "error" | "debug", (...words: unknown[]) => void>;
declare const crypto: {
  readonly subtle: {
    digest(algorithm: string | { name: string }, data: SvcBytes): Promise<ArrayBuffer>;
    importKey(format: string, key: SvcBytes, algorithm: any, extractable: boolean, uses: string[]): Promise<any>;
    sign(algorithm: any, key: any, data: SvcBytes): Promise<ArrayBuffer>;
    verify(algorithm: any, key: any, signature: SvcBytes, data: SvcBytes): Promise<boolean>;
  };
  randomUUID(): string;
  getRandomValues<T extends ArrayBufferView>(array: T): T;
};
declare function setTimeout(callback: (...args: any[]) => void, ms?: number, ...args: any[]): number;
declare function clearTimeout(timer: number | undefined): void;
`;

/** The types of a step call's arguments and result. A call names the step in the script's `steps`, or passes its function. */
const STEPS = (script: string): string => `
declare namespace Svc {
  type Steps = typeof import("${script}") extends { steps: infer S } ? S : {};
  type StepFunction<S> = S extends keyof Steps ? Steps[S] : S;
  type StepArgs<S> = StepFunction<S> extends (args: infer A, ...rest: any[]) => any ? A : any;
  type StepResult<S, O> = O extends { onError: "return" } ? any
    : StepFunction<S> extends (...args: any[]) => infer R ? Awaited<R> : any;
}
`;

/** Published signatures that do not depend on the script, and their replacements that do. */
const REFINED: [published: RegExp, refined: string][] = [
  [
    /runStep\([^)]*\): Promise<any>;/,
    "runStep<S extends string | Function, O extends CallOptions = {}>(step: S, args?: Svc.StepArgs<S>, options?: O): Promise<Svc.StepResult<S, O>>;",
  ],
  [
    /runStepMany\([^)]*\): Promise<any\[\]>;/,
    "runStepMany<S extends string | Function, O extends CallOptions & { concurrency?: number } = {}>(step: S, items: readonly Svc.StepArgs<S>[], options?: O): Promise<Svc.StepResult<S, O>[]>;",
  ],
  [/readonly args: any;/, "readonly args: Svc.Args;"],
];

const TOOL = `
declare namespace Svc {
  interface ToolContext {
    readonly meta: { readonly vars: any; readonly user: any; readonly thread_id: any; readonly response_id: any };
    readonly secrets: { get(name: string): Promise<string> };
    fetch(
      url: string,
      init?: { method?: string; headers?: Record<string, string> | [string, string][]; body?: string },
    ): Promise<{
      readonly status: number;
      readonly ok: boolean;
      readonly headers: { get(name: string): string | null };
      text(): Promise<string>;
      json(): Promise<any>;
    }>;
  }
}
`;

let published: string | undefined;

function workflowModule(): string {
  published ??= readFileSync(WORKFLOW, "utf8");
  return REFINED.reduce((text, [pattern, refined]) => text.replace(pattern, refined), published);
}

/** Declarations for a script, by file name. `script`: the path from which they import it. */
export function declarationsFor({ type, parameters }: TypedScript, script: string): Record<string, string> {
  const args = `declare namespace Svc { type Args = ${schemaType(parameters)} }\n`;
  if (type === "tool") return { "/globals.d.ts": EVERYWHERE + TOOL + args };
  return {
    "/globals.d.ts": EVERYWHERE + WEB + STEPS(script) + args,
    "/workflow.d.ts": workflowModule(),
  };
}
