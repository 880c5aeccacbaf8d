import type { ServerResponse } from "node:http";
import { afterAll } from "vitest";
import { startAnthropic, type Block } from "../doubles/anthropic.ts";
import { startGoogle, type Part } from "../doubles/google.ts";
import { startProvider } from "../doubles/provider.ts";

/** What a provider's model answers, in the order of a real one. */
export interface Said {
  thoughts?: string;
  text?: string;
  call?: { name: string; args: object };
}

/** What a provider was asked, whichever it is. */
interface Asked {
  instructions: string | undefined;
  /** Texts of the whole conversation, oldest first. */
  texts: string[];
  /** Media types of what is attached to the last message. */
  files: string[];
  tools: string[];
  /** What it sent along with its calls, as it came back. */
  state: string[];
}

/** A provider's double, so that a test of one is a test of each. */
export interface Double {
  provider: string;
  model: string;
  answers(...said: Said[]): void;
  /** Every answer is a refusal. */
  refuses(status: number): void;
  /** Gives these answers; further requests are held open until they are `ended` without one. */
  hangsAfter(...said: Said[]): { open(): number; end(): void };
  asked(): Asked[];
  requests: { method: string; headers: Record<string, unknown> }[];
}

async function anthropic(): Promise<Double & { env: Record<string, string> }> {
  const double = await startAnthropic();
  afterAll(() => double.close());
  const blocksOf = ({ thoughts, text, call }: Said): Block[] => [
    ...(thoughts === undefined ? [] : [{ thinking: thoughts }]),
    ...(text === undefined ? [] : [{ text }]),
    ...(call ? [{ tool: call.name, input: call.args }] : []),
  ];
  return {
    provider: "anthropic",
    model: "anthropic/claude-fable-5",
    env: { ANTHROPIC_API_KEY: "sk-ant-deployment", ANTHROPIC_BASE_URL: double.url },
    requests: double.requests,
    answers: (...said) => double.answers(...said.map((one) => ({ blocks: blocksOf(one) }))),
    refuses: (status) => double.script({ status, body: { type: "error", error: { type: "x", message: "No." } } }),
    hangsAfter: (...said) =>
      hold((write) => double.answers(...said.map((one) => ({ blocks: blocksOf(one) })), { write })),
    asked: () =>
      double.asked().map(({ system, messages, tools = [] }) => ({
        instructions: system,
        texts: messages.flatMap(({ content }: any) => content.flatMap(({ text }: any) => text ?? [])),
        files: messages.at(-1).content.flatMap(({ source }: any) => source?.media_type ?? []),
        tools: tools.map(({ name }: any) => name),
        state: messages.flatMap(({ content }: any) => content.flatMap(({ signature }: any) => signature ?? [])),
      })),
  };
}

type Page = { url: string; title?: string };

async function google() {
  const double = await startGoogle();
  afterAll(() => double.close());
  const partsOf = ({ thoughts, text, call }: Said): Part[] => [
    ...(thoughts === undefined ? [] : [{ thought: thoughts }]),
    ...(text === undefined ? [] : [{ text }]),
    ...(call ? [{ call: call.name, args: call.args, signed: true }] : []),
  ];
  const speaks: Double & { env: Record<string, string> } = {
    provider: "google",
    model: "google/gemini-4-pro",
    env: { GEMINI_API_KEY: "AIza-deployment", GEMINI_BASE_URL: double.url },
    requests: double.requests,
    answers: (...said) => double.answers(...said.map((one) => ({ parts: partsOf(one) }))),
    refuses: (code) => double.script({ status: code, body: { error: { code, message: "No.", status: "X" } } }),
    hangsAfter: (...said) =>
      hold((write) => double.answers(...said.map((one) => ({ parts: partsOf(one) })), { write })),
    asked: () =>
      double.asked().map(({ systemInstruction, contents, tools = [] }) => ({
        instructions: systemInstruction?.parts[0].text,
        texts: contents.flatMap(({ parts }: any) => parts.flatMap(({ text }: any) => text || [])),
        files: contents.at(-1).parts.flatMap(({ inlineData }: any) => inlineData?.mimeType ?? []),
        tools: tools.flatMap(({ functionDeclarations = [] }: any) => functionDeclarations.map(({ name }: any) => name)),
        state: contents.flatMap(({ parts }: any) =>
          parts.flatMap(({ thoughtSignature }: any) => thoughtSignature ?? []),
        ),
      })),
  };
  return {
    ...speaks,
    /** Reads pages by itself before it answers. */
    reads: (pages: Page[], ...said: Said[]) => double.answers(...said.map((one) => ({ pages, parts: partsOf(one) }))),
    /** The tools that it was offered last, its own among them. */
    offered: () => double.asked().at(-1).tools,
  };
}

function hold(script: (write: (response: ServerResponse) => void) => void) {
  const held: ServerResponse[] = [];
  script((response) => void held.push(response));
  return {
    open: () => held.filter(({ destroyed }) => !destroyed).length,
    end: () => held.forEach((one) => one.destroy()),
  };
}

/** All doubles, with the settings of a deployment that has a credential for each; they end with the test file. */
export async function startProviders() {
  const openai = await startProvider();
  afterAll(() => openai.close());
  const doubles = { anthropic: await anthropic(), google: await google() };
  const env: Record<string, string> = {
    OPENAI_API_KEY: "sk-deployment",
    OPENAI_BASE_URL: openai.url,
    ...doubles.anthropic.env,
    ...doubles.google.env,
  };
  return { ...doubles, env };
}
export const PROVIDERS = ["anthropic", "google"] as const;
