import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useEffect, useMemo } from "react";
import type { Question } from "../../api/answer.ts";
import { getThread, listMessages, listTargets, targetOf, type Target, type Thread } from "../../api/chat.ts";
import { whoAmI } from "../../api/queries.ts";
import { Empty, ErrorNotice, Loading } from "../../parts/Notices.tsx";
import { Composer } from "./Composer.tsx";
import { Conversation } from "./Conversation.tsx";
import { resumeAnswer, startQuestion, useLive } from "./live.ts";
import { ThreadList } from "./ThreadList.tsx";
import { toTurns } from "./turns.ts";
import "./chat.css";

/** What the conversation can go on with: an agent's stays with the agent, a model's may change to another model. */
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

/** The stored part of a conversation. An answer that is being written is followed. */
function useThread(threadId: string | undefined) {
  const queries = useQueryClient();
  const enabled = threadId !== undefined;
  const thread = useQuery({ ...getThread(threadId ?? ""), enabled });
  const messages = useQuery({
    ...listMessages(thread.data ?? NO_THREAD),
    enabled: enabled && thread.data !== undefined,
  });
  useEffect(() => {
    if (thread.data?.status === "running") void resumeAnswer(queries, thread.data, thread.data.newest_turn_id);
  }, [queries, thread.data]);
  return { thread, messages };
}

/** Who answers by what the address and the conversation say; undefined if nobody can. */
function chooseTarget(known: Target[], thread: Thread | undefined, wanted: string | undefined): Target | undefined {
  const targets = targetsOf(known, thread);
  const key = wanted ?? (thread && targetOf(thread).key);
  return targets.find((target) => target.key === key) ?? targets[0];
}

/** Sends questions; a new conversation gets an address of its own. */
function useAsk(threadId: string | undefined, wanted: string | undefined) {
  const queries = useQueryClient();
  const navigate = useNavigate();
  return useMutation({
    mutationFn: async ({ text, files }: Pick<Question, "text" | "files">) => {
      // somebody may be faster than the page, which still reads who may answer
      const thread = threadId === undefined ? undefined : await queries.ensureQueryData(getThread(threadId));
      const target = chooseTarget(await queries.ensureQueryData(listTargets), thread, wanted);
      if (!target) throw new Error("Nobody can answer: there is no model. Add a provider under Settings.");
      const { agent_id, model } = target;
      // random even where the page has no secure context, which randomUUID needs
      const key = [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16)).join("-");
      const question = { text, files, agent_id, model, key, thread_id: threadId };
      const id = await startQuestion(queries, question);
      if (threadId === undefined) await navigate({ to: "/chat/$threadId", params: { threadId: id } });
    },
  });
}

const Start = () => (
  <Empty title="What do you want to know?">
    <p>
      Choose who answers below, and ask. An agent has instructions, tools and documents; a model has only your words.
    </p>
  </Empty>
);

/** Conversations with agents and models. */
export function Chat() {
  const { threadId } = useParams({ strict: false });
  const search = useSearch({ strict: false });
  const navigate = useNavigate();
  const { data: me } = useQuery(whoAmI);
  const known = useQuery(listTargets);
  const { thread, messages } = useThread(threadId);
  const live = useLive(threadId);
  const targets = targetsOf(known.data ?? [], thread.data);
  const target = chooseTarget(known.data ?? [], thread.data, search.with);
  const asking = useAsk(threadId, search.with);
  const turns = useMemo(() => toTurns(messages.data ?? [], live), [messages.data, live]);

  const isBusy = asking.isPending || (live !== undefined && live.failure === undefined);
  const onAsk = (text: string, files: Question["files"]) =>
    asking.mutateAsync({ text, files }).then(
      () => true,
      () => false,
    );
  const mayAsk = me?.user.role !== "viewer";
  const failed = [thread, messages].find(({ isError }) => isError);
  return (
    <div className={`chat${threadId ? " open" : ""}`}>
      <ThreadList />
      <section className="screen narrow talk" aria-labelledby="title">
        <h1 id="title" className={threadId ? "clipped" : ""}>
          {threadId ? thread.data?.title || "Conversation" : "New conversation"}
        </h1>
        {failed && <ErrorNotice error={failed.error} onRetry={() => void failed.refetch()} />}
        {threadId && !failed && !messages.data && turns.length === 0 && <Loading what="the conversation" />}
        {!threadId && !asking.isPending && <Start />}
        <Conversation
          turns={turns}
          isRunning={thread.data?.status === "running"}
          onAgain={mayAsk && !isBusy ? (text) => void onAsk(text, []) : undefined}
        />
        {known.isError && <ErrorNotice error={known.error} onRetry={() => void known.refetch()} />}
        {!mayAsk && <p className="notice">A viewer may read conversations, and start none.</p>}
        {mayAsk && !failed && (
          <Composer
            key={threadId ?? "new"}
            targets={targets}
            target={target}
            onTarget={({ key }) =>
              void navigate({ to: ".", search: (before) => ({ ...before, with: key }), replace: true })
            }
            draft={threadId ? "" : (search.ask ?? "")}
            isBusy={isBusy}
            error={asking.error}
            onAsk={onAsk}
          />
        )}
      </section>
    </div>
  );
}
