import { openSearchEngine } from "#infra/meilisearch/searchEngine.ts";
import { openModels } from "#infra/models/index.ts";
import { countTokens } from "#infra/models/tokens.ts";
import { cleanUp } from "#infra/postgres/cleanUp.ts";
import { lead } from "#infra/postgres/leader.ts";
import { openReader } from "#infra/readers/openReader.ts";
import { openScripts } from "#infra/scripts/openScripts.ts";
import { openWorkflows } from "#infra/scripts/workflows/openWorkflows.ts";
import { partsOf } from "#events/ids.ts";
import type { EventLog, PublicEvent, StreamHead } from "#events/ports.ts";
import { withTrace } from "#events/spans.ts";
import { traceFrom } from "#events/trace.ts";
import { createHandler } from "#services/handle.ts";
import { reactors } from "#services/reactors/index.ts";
import { createSweep } from "#services/sweep.ts";
import { runTurn } from "#services/turns/run.ts";
import { stepsOf } from "#services/turns/steps.ts";
import { createTools } from "#services/turns/tools/index.ts";
import { createTurns } from "#services/turns/turns.ts";
import { withStepSpans } from "#services/workflows/stepSpans.ts";
import { deploymentCredentials } from "./credentials.ts";
import { createDocumentWork } from "./documents.ts";
import { openKnowledge } from "./knowledge.ts";
import { inTraceOfStream } from "./lostWork.ts";
import type { Opened } from "./open.ts";
import { openOwnScripts } from "./ownScripts.ts";
import { startRelays } from "./relays.ts";
import { openStepHosts } from "./stepHost.ts";
import { openWeb, PAGES_AT_ONCE } from "./web.ts";
import { createWorkflowWork } from "./workflows.ts";

/** A model waits for a page of the web as for its download, and not as for a document. */
const PAGE = { deadline_ms: 20_000, resident: 1_000_000_000, idle_ms: 60_000 };

/** The role that decides and does: handles commands, runs turns, reacts to events, sweeps up what was lost. */
export async function startServices(opened: Opened) {
  const { settings, logger, log, bus, worker, blobs, keyring } = opened;
  const models = openModels({ offline: settings.OFFLINE_MODELS, privateHosts: settings.PRIVATE_PROVIDER_HOSTS });

  const engine = openSearchEngine({ url: opened.addresses.meili_url, key: opened.addresses.meili_master_key });
  const pages = openReader({ processes: PAGES_AT_ONCE, limits: PAGE });
  const runner = openScripts({ processes: settings.READERS });
  const tools = createTools({
    knowledge: openKnowledge({ db: opened.db, engine, blobs, keyring, base_url: settings.BASE_URL }),
    web: openWeb({ settings, credentials: { log, keyring }, reader: pages }),
    scripts: openOwnScripts({ settings, db: opened.db, log, blobs, keyring, runner }),
  });

  const turns = createTurns({
    log,
    frames: bus.frames,
    worker,
    run: (turn, leaving) =>
      runTurn(
        {
          log,
          blobs,
          keyring,
          dataKeys: log,
          frames: bus.frames,
          models,
          tools,
          handle,
          countTokens,
          deployment: deploymentCredentials(settings),
          offline: settings.OFFLINE_MODELS,
          onToolError: (error, { turn_id, request_id }, tool) =>
            logger.warn({ err: error, turn_id, request_id, tool }, "a tool failed"),
        },
        turn,
        leaving,
      ),
    keepTold: (turn, told) => stepsOf({ handle, blobs, keyring, dataKeys: log }, turn).keepTold(told),
    onError: (error, turn) =>
      logger.error({ err: error, turn_id: turn.turn_id, request_id: turn.request_id }, "a turn could not be ended"),
  });
  const documents = createDocumentWork(opened, (command) => handle(command));
  const { readings } = documents;
  const openHost = openStepHosts(opened, { handle: (command) => handle(command), tools });
  const workflows = withStepSpans(openWorkflows({ processes: settings.READERS }));
  const runs = createWorkflowWork(opened, (command) => handle(command), { runner: workflows, openHost });
  const hasRoom = (aggregate: string, organization: string): boolean => {
    if (aggregate === "thread") return turns.room(organization);
    return aggregate === "run" ? runs.room(organization) : readings.room();
  };
  const handle = createHandler({
    log,
    hints: bus.hints,
    worker: (aggregate, organization) => (hasRoom(aggregate, organization) ? worker : undefined),
    begin: runs.begin,
    afterCommit(handled) {
      turns.afterCommit(handled);
      readings.afterCommit(handled);
      runs.afterCommit(handled);
    },
  });

  const traced = inTraceOfStream(opened.db);
  const attends: Record<string, (head: StreamHead) => Promise<void>> = {
    ...documents.attend,
    document: traced(documents.attend.document),
    extraction: traced(documents.attend.extraction),
    thread: (head) => turns.attend(handle, head),
    run: traced(runs.attend),
  };
  const attend = async (head: StreamHead) => attends[partsOf(head.stream).aggregate]?.(head);
  // while the database is away nobody can beat: that is no reason to take a turn from who still runs it
  const openWork: EventLog["openWork"] = async (options) => {
    const work = await log.openWork(options);
    return opened.steady() ? work : [];
  };
  const sweep = createSweep({
    log: { openWork },
    worker,
    busy: () => [...turns.busy(), ...readings.busy(), ...runs.busy()],
    attend: attends,
    onError: (error, stream) => logger.warn({ err: error, stream }, "the sweep failed"),
  });
  const react = async (event: PublicEvent) => {
    const reaction = { event, blobs, log, attend };
    for (const reactor of reactors[event.type] ?? []) await withTrace(traceFrom(event), () => reactor.react(reaction));
  };

  const commands = await bus.source().consume(handle);
  const reactions = await bus.reactions.consume(react);
  const onError = (error: unknown) => logger.warn({ err: error }, "work in the background failed, it is tried again");
  const relaying = startRelays(opened, onError);
  const cleaning = lead(
    opened.pool,
    "clean-up",
    (signal) => cleanUp({ db: opened.db, blobs, dataKeys: log, onError }, signal),
    onError,
  );
  const following = documents.startFollowing();
  sweep.start();

  return {
    /** Takes no more work, lets running turns and readings finish for a while, then goes. */
    async stop(patienceMs: number): Promise<void> {
      await Promise.all([commands.stop(), reactions.stop(), sweep.stop()]);
      await Promise.all([relaying.stop(), cleaning.stop()]);
      let timer: NodeJS.Timeout | undefined;
      const patience = new Promise((resolve) => (timer = setTimeout(resolve, patienceMs)));
      await Promise.race([Promise.all([runs.stop(), turns.idle(), documents.idle(), following.stop()]), patience]);
      clearTimeout(timer);
      turns.leave();
      await Promise.all([documents.close(), engine.close(), pages.close(), runner.close(), workflows.close()]);
    },
  };
}
