import type { FinishReason, Usage } from "#events/thread.ts";
import type { ReceivedRequest, Pieces } from "./loopback.ts";
import type { Cut, RawReply } from "./modelDouble.ts";

/* Shared by the conformance suites of the providers: one way to script a provider's double, and to read the requests it received. */

/** One answer of a model, in the order of a real one. The double fills in missing parts. */
export interface Answer {
  /** Opaque data that the provider wants back with the results of the calls. */
  state?: string;
  reasoning?: string;
  text?: string;
  calls?: { name: string; args: object }[];
  /** The provider's own word. */
  finish?: string;
  /** In the provider's own form; null: it counts nothing. */
  usage?: unknown;
  cut?: Cut;
  /** The message of an error within the stream, after the output. */
  error?: string;
  pieces?: Pieces;
}

/** The content of a prompt, whatever the provider's wire format. */
export interface Conversation {
  instructions: string | undefined;
  /** The texts of the whole conversation, oldest first. */
  texts: string[];
  /** Media types of the attachments of the last message. */
  files: string[];
  /** Names of the offered tools. */
  tools: string[];
  calls: { id: string; name: string; args: unknown }[];
  /** Results of the calls, parsed. */
  results: { id: string; output: unknown }[];
  /** Opaque data that came back with the calls. */
  state: string[];
}

export interface DialectDouble {
  /** Base URL as a deployment configures it. */
  url: string;
  requests: ReceivedRequest[];
  prompts(): ReceivedRequest[];
  /** Replies to prompts from now on, in order; the last one is repeated. Without replies: an echo of the user. */
  reply(...replies: (Answer | RawReply)[]): void;
  /** The conversations of the prompts so far, oldest first. */
  conversations(): Conversation[];
  close(): Promise<void>;
}

/** A provider's API as the conformance suites need to know it. */
export interface Dialect<Double extends DialectDouble = DialectDouble> {
  name: "openai" | "anthropic" | "google";
  model: string;
  /** A key that the double accepts, and how it refuses another one. */
  apiKey: string;
  wrongKey: { apiKey: string; status: number; message: string };
  /** The header with the key, exactly as it is sent. */
  keyHeader: (apiKey: string) => [name: string, value: string];
  /** The deployment's settings for the key and the base URL. */
  settings: [key: string, baseUrl: string];
  /** Where requests go without a base URL. */
  origin: string;
  /** Endings of the double's URL that do not change where requests go. */
  pathSuffixes: string[];
  /** Environment variables that the SDK would read. */
  environment: Record<string, string>;
  /** True if buffered requests are sent as streams too. */
  alwaysStreams: boolean;
  finishReasons: [raw: string, finish_reason: FinishReason][];
  usage: { raw: object; counted: Usage };
  unusableUsages: unknown[];
  /** An error response as the provider words it. */
  errorBody: (status: number, message: string) => object;
  /** Parts of a stream. */
  frames: {
    start: string;
    text: (text: string) => string;
    finish: string;
    /** Frames to skip. */
    unknown: string[];
    /** What makes a stream unreadable. */
    broken: [name: string, bytes: string | Buffer][];
  };
  start(): Promise<Double>;
}

export const sseHeaders = { "content-type": "text/event-stream" };

/** A reply that writes these bytes of a stream, then ends, loses or keeps the connection. */
export const streamReply = (bytes: string | Buffer, after: "end" | "destroy" | "open" = "end"): RawReply => ({
  write: (response) => {
    response.writeHead(200, sseHeaders).write(bytes, () => {
      if (after === "end") response.end();
      if (after === "destroy") setTimeout(() => response.destroy(), 20);
    });
  },
});

const isRaw = (reply: Answer | RawReply): reply is RawReply => "write" in reply || "status" in reply;

/** A provider's double with its dialect. */
export const withDialect = <Reply extends object, Double extends ScriptedDouble<Reply>>(
  double: Double,
  toReply: (answer: Answer) => Reply,
  toConversation: (body: any) => Conversation,
) => ({
  ...double,
  reply: (...replies: (Answer | RawReply)[]) =>
    double.answers(...replies.map((reply) => (isRaw(reply) ? reply : toReply(reply)))),
  conversations: () => double.prompts().map(({ body }) => toConversation(body)),
});
interface ScriptedDouble<Reply> {
  answers(...replies: (Reply | RawReply)[]): void;
  prompts(): ReceivedRequest[];
}

export const parseOr = (text: string, otherwise: unknown): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return otherwise;
  }
};
