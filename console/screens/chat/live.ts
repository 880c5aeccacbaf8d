import type { QueryClient } from "@tanstack/react-query";
import { useSyncExternalStore } from "react";
import { ask, resume, stopResponse, type LiveAnswer, type Question } from "../../api/answer.ts";
import { Failure, isFinal } from "../../api/call.ts";
import { getThread, listMessages, type Thread } from "../../api/chat.ts";

/*
 * Answers that are being written, by thread. They are followed outside of the screen, so that they go on while the person looks at
 * something else. After a reload they are followed again: those of agents by their id, those of models by repeating the request
 * under its key.
 */

export interface Live {
  /** Undefined if it was asked elsewhere. */
  question: Question | undefined;
  answer: LiveAnswer;
  /** Why it is followed no longer. The stored answer takes its place once there is one. */
  failure?: unknown;
  /** The newest turn of the thread before it, as far as this tab knew. */
  before?: string | undefined;
  stop(): void;
}

/** So many attempts in a row that bring nothing new. */
const MAX_ATTEMPTS = 5;
const RETRY_MS = 1_000;
const NOTHING: LiveAnswer = { text: "", calls: [], citations: [] };

const answers = new Map<string, Live>();
const listeners = new Set<() => void>();
/** Turns that were followed here: one that the service refuses is not tried again and again. */
const followed = new Set<string>();

function set(thread: string, live: Live | undefined): void {
  if (live) answers.set(thread, live);
  else answers.delete(thread);
  for (const notify of listeners) notify();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export const findLive = (thread: string): Live | undefined => answers.get(thread);
export const useLive = (thread: string | undefined): Live | undefined =>
  useSyncExternalStore(subscribe, () => (thread === undefined ? undefined : findLive(thread)));

const storageKey = (thread: string): string => `chat-${thread}`;
const forget = (thread: string): void => sessionStorage.removeItem(storageKey(thread));

/** The question of this tab that a model is answering in the thread. */
function storedQuestion(thread: string): Question | undefined {
  const stored = sessionStorage.getItem(storageKey(thread));
  return stored ? (JSON.parse(stored) as Question) : undefined;
}

interface Following {
  thread: string;
  agent_id: string | undefined;
  question: Question | undefined;
  turn_id?: string | undefined;
  before?: string | undefined;
}

/** The answer again after its connection was lost, from its beginning. */
async function reconnect({ agent_id, question, turn_id }: Following, signal: AbortSignal) {
  if (agent_id && turn_id) return resume(agent_id, turn_id, signal);
  if (question) return (await ask(question, signal)).answers;
  throw new Error("The connection was lost. The answer appears here when it is complete.");
}

/** How much of an answer is there. Another connection repeats what was there already. */
const sizeOf = ({ text, calls }: LiveAnswer): number =>
  text.length + calls.length + calls.filter(({ status }) => status !== "running").length;

async function readAll(following: Following, first: AsyncGenerator<LiveAnswer>, signal: AbortSignal): Promise<void> {
  let source: AsyncGenerator<LiveAnswer> | undefined = first;
  let size = 0;
  for (let attempt = 1; ; attempt++) {
    try {
      source ??= await reconnect(following, signal);
      for await (const answer of source) {
        if (sizeOf(answer) > size) attempt = 1;
        size = Math.max(size, sizeOf(answer));
        following.turn_id ??= answer.turn_id;
        if (answer.turn_id) followed.add(answer.turn_id);
        const live = answers.get(following.thread);
        if (live) set(following.thread, { ...live, answer });
      }
      return;
    } catch (error) {
      if (signal.aborted || isFinal(error) || attempt === MAX_ATTEMPTS) throw error;
      await new Promise((resolve) => window.setTimeout(resolve, RETRY_MS));
      source = undefined;
    }
  }
}

/** The conversation as it is stored now, so that it takes the place of the live answer without a gap. */
async function readStored(queries: QueryClient, thread: string): Promise<void> {
  await queries.invalidateQueries({ queryKey: ["thread"] });
  await queries.fetchQuery(listMessages(await queries.fetchQuery(getThread(thread))));
}

/** Shows an answer until it ends; then the stored one is read. */
async function follow(
  queries: QueryClient,
  following: Following,
  source: AsyncGenerator<LiveAnswer>,
  abort: AbortController,
): Promise<void> {
  const { thread, agent_id, question } = following;
  const stop = () => {
    forget(thread);
    if (agent_id && following.turn_id) void stopResponse(agent_id, following.turn_id).catch(() => abort.abort());
    else abort.abort();
  };
  set(thread, { question, answer: NOTHING, before: following.before, stop });
  let failure: unknown;
  try {
    await readAll(following, source, abort.signal);
  } catch (error) {
    failure = abort.signal.aborted ? undefined : error;
  }
  forget(thread);
  const live = answers.get(thread);
  if (failure && live) set(thread, { ...live, failure });
  if (failure && following.turn_id && !isFinal(failure)) followed.delete(following.turn_id);
  await readStored(queries, thread).catch(() => {});
  if (answers.get(thread)?.failure === undefined) set(thread, undefined);
}

/** Sends a question and follows its answer. Resolves with the thread once that is known. */
export async function startQuestion(queries: QueryClient, question: Question): Promise<string> {
  const abort = new AbortController();
  const { thread_id, answers: source } = await ask(question, abort.signal);
  if (question.agent_id === undefined)
    sessionStorage.setItem(storageKey(thread_id), JSON.stringify({ ...question, thread_id: question.thread_id }));
  const before = queries.getQueryData(getThread(thread_id).queryKey)?.newest_turn_id;
  void follow(queries, { thread: thread_id, agent_id: question.agent_id, question, before }, source, abort);
  return thread_id;
}

/** Follows an answer that is being written, unless this tab does so already or was refused. */
async function resumeAnswer(queries: QueryClient, { id, agent_id }: Thread, turn_id: string): Promise<void> {
  const live = answers.get(id);
  if (followed.has(turn_id) || (live && live.failure === undefined)) return;
  followed.add(turn_id);
  const abort = new AbortController();
  const question = storedQuestion(id);
  const following: Following = { thread: id, agent_id: agent_id ?? undefined, question, turn_id };
  if (agent_id === null && !question) return;
  try {
    await follow(queries, following, await reconnect(following, abort.signal), abort);
  } catch (error) {
    // the thread is read again until its answer is complete
    if (!(error instanceof Failure)) throw error;
    if (!isFinal(error)) followed.delete(turn_id);
  }
}

/** After a thread was read: an answer that is being written is followed, and one that could not be is replaced by what is stored. */
export async function noteThread(queries: QueryClient, thread: Thread): Promise<void> {
  if (thread.status === "running") return resumeAnswer(queries, thread, thread.newest_turn_id);
  const live = answers.get(thread.id);
  if (live?.failure === undefined || thread.newest_turn_id === live.before) return;
  const isRead = await queries.fetchQuery(listMessages(thread)).then(
    () => true,
    () => false,
  );
  if (isRead && answers.get(thread.id) === live) set(thread.id, undefined);
}
