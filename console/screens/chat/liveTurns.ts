import type { QueryClient } from "@tanstack/react-query";
import { useSyncExternalStore } from "react";
import { askQuestion, reopenAnswer, stopResponse, type LiveAnswer, type Question } from "../../api/answer.ts";
import { ApiError, isFinal } from "../../api/call.ts";
import { getThread, listMessages, type Thread } from "../../api/chat.ts";

/* Answers in progress, by thread. They are followed outside of the screen, so that they continue while the person looks at another screen. After a reload they are followed again: an agent's answer by its id, a model's answer by repeating the request under its key. */

export interface LiveTurn {
  /** Undefined if the question was sent elsewhere. */
  question: Question | undefined;
  answer: LiveAnswer;
  /** The reason why it is no longer followed. The stored answer replaces it once there is one. */
  failure?: unknown;
  /** The newest earlier turn of the thread, as far as this tab knows. */
  before?: string | undefined;
  stop(): void;
}

/** Maximum attempts in a row without new text. */
const MAX_ATTEMPTS = 5;
const RETRY_MS = 1_000;
const NOTHING: LiveAnswer = { text: "", calls: [], citations: [] };

const answers = new Map<string, LiveTurn>();
const listeners = new Set<() => void>();
/** Turns that were followed here. A turn that the service refuses is not retried endlessly. */
const followed = new Set<string>();

function set(thread: string, live: LiveTurn | undefined): void {
  if (live) answers.set(thread, live);
  else answers.delete(thread);
  for (const notify of listeners) notify();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export const findLiveTurn = (thread: string): LiveTurn | undefined => answers.get(thread);
export const useLiveTurn = (thread: string | undefined): LiveTurn | undefined =>
  useSyncExternalStore(subscribe, () => (thread === undefined ? undefined : findLiveTurn(thread)));

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

/** Reopens the answer from its beginning after its connection was lost. */
async function reconnect({ agent_id, question, turn_id }: Following, signal: AbortSignal) {
  if (agent_id && turn_id) return reopenAnswer(agent_id, turn_id, signal);
  if (question) return (await askQuestion(question, signal)).answers;
  throw new Error("The connection was lost. The answer appears here when it is complete.");
}

/** The amount of received text. A new connection repeats it. */
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

/** Reads the stored conversation, so that it replaces the live answer without a gap. */
async function readStored(queries: QueryClient, thread: string): Promise<void> {
  await queries.invalidateQueries({ queryKey: ["thread"] });
  await queries.fetchQuery(listMessages(await queries.fetchQuery(getThread(thread))));
}

/** Shows an answer until it ends, then reads the stored one. */
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

/** Sends a question and follows its answer. Resolves with the thread once it is known. */
export async function startQuestion(queries: QueryClient, question: Question): Promise<string> {
  const abort = new AbortController();
  const { thread_id, answers: source } = await askQuestion(question, abort.signal);
  if (question.agent_id === undefined)
    sessionStorage.setItem(storageKey(thread_id), JSON.stringify({ ...question, thread_id: question.thread_id }));
  const before = queries.getQueryData(getThread(thread_id).queryKey)?.newest_turn_id;
  void follow(queries, { thread: thread_id, agent_id: question.agent_id, question, before }, source, abort);
  return thread_id;
}

/** Follows an answer in progress, unless this tab already follows it or was refused. */
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
    if (!(error instanceof ApiError)) throw error;
    if (!isFinal(error)) followed.delete(turn_id);
  }
}

/** Runs after a thread was read: follows an answer in progress, and replaces a failed one by the stored answer. */
export async function syncLiveTurn(queries: QueryClient, thread: Thread): Promise<void> {
  if (thread.status === "running") return resumeAnswer(queries, thread, thread.newest_turn_id);
  const live = answers.get(thread.id);
  if (live?.failure === undefined || thread.newest_turn_id === live.before) return;
  const isRead = await queries.fetchQuery(listMessages(thread)).then(
    () => true,
    () => false,
  );
  if (isRead && answers.get(thread.id) === live) set(thread.id, undefined);
}
