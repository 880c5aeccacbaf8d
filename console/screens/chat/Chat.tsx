import { useIsMutating, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useEffect, useMemo } from "react";
import type { Question } from "../../api/answer.ts";
import { isFinal } from "../../api/call.ts";
import {
  getThread,
  listMessages,
  listMessagesUpTo,
  listTargets,
  targetOf,
  type Target,
  type Thread,
} from "../../api/chat.ts";
import { deleteThread } from "../../api/owned.ts";
import { getSession } from "../../api/queries.ts";
import { EmptyState, ErrorNotice, Loading } from "../../parts/Notices.tsx";
import { ThingActions } from "../../parts/ThingActions.tsx";
import { useLeaveAfter, useLocationKey } from "../../parts/useLocationKey.ts";
import { Composer } from "./Composer.tsx";
import { Conversation } from "./Conversation.tsx";
import { syncLiveTurn, startQuestion, useLiveTurn } from "./liveTurns.ts";
import { ThreadList } from "./ThreadList.tsx";
import { toHistory, toTurns } from "./turns.ts";
import "./chat.css";

/** The possible targets of the conversation: an agent's conversation stays with the agent, a model's may switch to another model. */
function targetsOf(targets: Target[], thread: Thread | undefined): Target[] {
  if (!thread) return targets;
  const { key, ...rest } = targetOf(thread);
  const same = targets.filter((one) => (thread.agent_id === null ? one.model : one.key === key));
  return same.length > 0 ? same : [{ key, name: rest.model ?? "An agent that is no longer here", ...rest }];
}

const NO_THREAD: Thread = {
  id: "",
  agent_id: null,
  model: "",
  status: "completed",
  title: null,
  newest_turn_id: "",
  updated_at: "",
};

/** The messages that a new conversation takes over, if its address names a turn. */
function useForked(fork: string | undefined) {
  const messages = useQuery({ ...listMessagesUpTo(fork ?? ""), enabled: fork !== undefined });
  return { forked: messages, inherited: useMemo(() => toTurns(messages.data ?? [], undefined), [messages.data]) };
}

const ForkNote = () => (
  <p className="notice" role="status">
    A new conversation with what was said up to here. Ask how it goes on; the first conversation stays as it is.
    Attached files are not part of it.
  </p>
);

/** The stored part of a conversation. Follows an answer that is being written. */
function useThread(threadId: string | undefined) {
  const queries = useQueryClient();
  const enabled = threadId !== undefined;
  const thread = useQuery({ ...getThread(threadId ?? ""), enabled });
  const messages = useQuery({
    ...listMessages(thread.data ?? NO_THREAD),
    enabled: enabled && thread.data !== undefined,
  });
  // also if the result is unchanged, because after an outage an answer must be followed again
  useEffect(() => {
    if (thread.data) void syncLiveTurn(queries, thread.data);
  }, [queries, thread.data, thread.dataUpdatedAt]);
  return { thread, messages };
}

/** The target according to the address and the conversation; undefined if there is none. */
function chooseTarget(known: Target[], thread: Thread | undefined, wanted: string | undefined): Target | undefined {
  const targets = targetsOf(known, thread);
  const key = wanted ?? (thread && targetOf(thread).key);
  return targets.find((target) => target.key === key) ?? targets[0];
}

interface QuestionToSend extends Pick<Question, "text" | "files"> {
  /** Receives the conversation once the service has accepted the question. */
  onSent?: ((thread: string) => void) | undefined;
}

const placeOf = (threadId: string | undefined, fork: string | undefined): string => threadId ?? fork ?? "new";

/** Sends questions; a new conversation gets its own address. `fork`: the last turn of another conversation that is taken over. */
function useAsk(
  threadId: string | undefined,
  { with: wanted, fork }: { with?: string | undefined; fork?: string | undefined },
) {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const where = useLocationKey();
  // only for this conversation, so that another one is not busy and shows no error
  const mutationKey = ["ask", placeOf(threadId, fork)];
  const isSending = useIsMutating({ mutationKey }) > 0;
  const asking = useMutation({
    mutationKey,
    mutationFn: async ({ text, files, onSent }: QuestionToSend) => {
      // the person may send before the page knows the targets
      const began = where();
      const thread = threadId === undefined ? undefined : await queries.ensureQueryData(getThread(threadId));
      const target = chooseTarget(await queries.ensureQueryData(listTargets), thread, wanted);
      if (!target) throw new Error("Nobody can answer: there is no model. Add a provider under Settings.");
      const { agent_id, model } = target;
      // random even without a secure context, which randomUUID requires
      const key = [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16)).join("-");
      const history = fork === undefined ? undefined : toHistory(await queries.ensureQueryData(listMessagesUpTo(fork)));
      const question = { text, files, agent_id, model, key, thread_id: threadId, history };
      const id = await startQuestion(queries, question);
      onSent?.(id);
      const isNew = threadId === undefined && where() === began;
      if (isNew) await navigate({ to: "/chat/$threadId", params: { threadId: id } });
      else void queries.invalidateQueries({ queryKey: ["thread", "list"] });
    },
  });
  const ask = (text: string, files: Question["files"], onSent?: QuestionToSend["onSent"]) =>
    asking.mutate({ text, files, onSent });
  return { ask, error: asking.error, isSending };
}

const Start = () => (
  <EmptyState title="What do you want to know?">
    <p>
      Choose who answers below, and ask. An agent has instructions, tools and documents; a model has only your words.
    </p>
  </EmptyState>
);

const titleOf = (
  thread: Thread | undefined,
  { threadId, fork }: { threadId: string | undefined; fork: string | undefined },
) => {
  if (threadId) return thread?.title || "Conversation";
  return fork ? "A fork of a conversation" : "New conversation";
};

/** The turns of the conversation: the stored ones and the one in progress, or those that a fork starts with. */
function useTurns(threadId: string | undefined, fork: string | undefined) {
  const { thread, messages } = useThread(threadId);
  const { forked, inherited } = useForked(fork);
  const live = useLiveTurn(threadId);
  const stored = useMemo(() => toTurns(messages.data ?? [], live), [messages.data, live]);
  const turns = fork ? inherited : stored;
  const failed = [thread, messages, forked].find(({ isError }) => isError);
  const isNamed = threadId !== undefined || fork !== undefined;
  const isLoading = isNamed && !failed && turns.length === 0 && !messages.data && !forked.data;
  return { thread, turns, failed, isLoading, isLive: live !== undefined && live.failure === undefined };
}

function DeleteThread({ thread: { id } }: { thread: Thread }) {
  const leaveAfter = useLeaveAfter();
  const remove = {
    label: "Delete conversation",
    question: "Delete this conversation for good, with its files?",
    isDangerous: true,
    run: () => leaveAfter(() => deleteThread(id), { to: "/chat" }),
  };
  return <ThingActions actions={[remove]} kind="thread" />;
}

/** Conversations with agents and models. */
export function Chat() {
  const { threadId } = useParams({ strict: false });
  const search = useSearch({ strict: false });
  const navigate = useNavigate();
  const { data: me } = useQuery(getSession);
  const known = useQuery(listTargets);
  const fork = threadId === undefined ? search.fork : undefined;
  const { thread, turns, failed, isLoading, isLive } = useTurns(threadId, fork);
  const targets = targetsOf(known.data ?? [], thread.data);
  const target = chooseTarget(known.data ?? [], thread.data, search.with);
  const asking = useAsk(threadId, { with: search.with, fork });

  const place = placeOf(threadId, fork);
  const mayAsk = me?.user.role !== "viewer";
  // a person can continue to write the next question while the service is unavailable
  const isOpen = mayAsk && (!failed || (thread.data !== undefined && !isFinal(failed.error)));
  const isBusy = asking.isSending || isLive;
  return (
    <div className={`chat${threadId ? " open" : ""}`}>
      <ThreadList />
      <section className="screen narrow talk" aria-labelledby="title">
        <h1 id="title" className={threadId ? "clipped" : ""}>
          {titleOf(thread.data, { threadId, fork })}
        </h1>
        {thread.data && mayAsk && !isBusy && <DeleteThread key={thread.data.id} thread={thread.data} />}
        {failed && <ErrorNotice error={failed.error} onRetry={() => void failed.refetch()} />}
        {isLoading && <Loading what="the conversation" />}
        {!threadId && !fork && !asking.isSending && <Start />}
        <Conversation
          place={place}
          turns={turns}
          isRunning={thread.data?.status === "running"}
          forkWith={mayAsk && !fork ? target?.key : undefined}
          onAgain={mayAsk && !isBusy && !fork ? (text) => asking.ask(text, []) : undefined}
        />
        {fork && !failed && <ForkNote />}
        {known.isError && !failed && <ErrorNotice error={known.error} onRetry={() => void known.refetch()} />}
        {!mayAsk && <p className="notice">A viewer may read conversations, and start none.</p>}
        {isOpen && (
          <Composer
            key={place}
            place={place}
            targets={targets}
            target={target}
            onTarget={({ key }) =>
              void navigate({ to: ".", search: (before) => ({ ...before, with: key }), replace: true })
            }
            draft={threadId ? "" : (search.ask ?? "")}
            isBusy={isBusy}
            isSending={asking.isSending}
            error={asking.error}
            onAsk={asking.ask}
          />
        )}
      </section>
    </div>
  );
}
