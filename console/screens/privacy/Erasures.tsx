import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { ERASED_KINDS } from "../../api/erasedKinds.ts";
import { kindWord } from "../../format/kindWord.ts";
import {
  certificateAddress,
  listErasures,
  listHolds,
  previewErasure,
  startErasure,
  type Erasure,
} from "../../api/privacy.ts";
import { formatCount } from "../../format/index.ts";
import { Checkbox, Form } from "../../parts/Form.tsx";
import { EmptyState, QueryResult } from "../../parts/Notices.tsx";
import { PastEnd } from "../../parts/Pagination.tsx";
import { Status } from "../../parts/Status.tsx";
import { Table, type Columns } from "../../parts/Table.tsx";
import { Time } from "../../parts/Time.tsx";
import { requireConfirmation, TypedConfirmation } from "../../parts/TypedConfirmation.tsx";
import { ErasureCounts } from "./ErasureCounts.tsx";
import { readSubject, SubjectField, useSubjectName } from "./SubjectField.tsx";

const WORD = "erase";

const columns = (name: (subject: string) => string): Columns<Erasure> => [
  {
    title: "Of whom",
    cell: ({ id, owner }) => (
      <>
        {name(owner)}
        <br />
        <Link className="quiet mono" to="/log" search={{ stream: `erasure-${id}` }} data-row>
          {id}
        </Link>
      </>
    ),
  },
  {
    title: "Status",
    cell: ({ id, status }) => (
      <>
        <Status status={status} />
        {status === "completed" && (
          <>
            <br />
            <a href={certificateAddress(id)} download={`erasure-${id}.jsonl`}>
              Certificate
            </a>
          </>
        )}
      </>
    ),
  },
  {
    title: "Deleted",
    cell: ({ threads_deleted, files_deleted, runs_deleted, documents_deleted, extractions_deleted }) =>
      [
        formatCount(threads_deleted, "conversation"),
        formatCount(files_deleted, "file"),
        formatCount(runs_deleted, "run"),
        formatCount(documents_deleted, "document"),
        formatCount(extractions_deleted, "extraction"),
      ].join(", "),
  },
  { title: "Started", cell: ({ created_at }) => <Time at={created_at} /> },
];

function Start({ chosen }: { chosen: string | undefined }) {
  const queries = useQueryClient();
  const [begun, setBegun] = useState(0);
  const count = useMutation({
    mutationFn: async (form: FormData) => previewErasure(readSubject(form), form.getAll("kinds").map(String)),
  });
  const send = useMutation({
    mutationFn: async (form: FormData) => {
      const subject = readSubject(form);
      requireConfirmation(form, WORD);
      return startErasure(subject, form.getAll("kinds").map(String));
    },
    // the next erasure needs its own confirmation
    onSuccess: () => {
      setBegun((times) => times + 1);
      count.reset();
    },
    onSettled: () => queries.invalidateQueries({ queryKey: ["erasure"] }),
  });
  return (
    <Form
      key={begun}
      submit="Erase for good"
      isDangerous
      done="It has begun; the list shows how far it is."
      send={send}
    >
      <h2>Erase what somebody has</h2>
      <p className="notice warn">
        What the person, key or agent has now of the kinds below, or what all keys, agents and workflows store for an
        end user. Responses go with their conversations. Runs that still go on are cancelled first. What the person said
        about approvals of others stays with those. Nothing brings anything back: the keys are destroyed, also for
        backups. Export first what is needed.
      </p>
      {/* the counts are for the earlier selection */}
      <div className="stack" onChange={() => count.reset()}>
        <SubjectField key={chosen} kinds={["person", "key", "agent", "user"]} chosen={chosen} />
        <fieldset>
          <legend>What is erased</legend>
          {ERASED_KINDS.map((kind) => (
            <Checkbox key={kind} name="kinds" value={kind} label={kindWord(kind)} isChecked />
          ))}
        </fieldset>
      </div>
      <ErasureCounts count={count} />
      <TypedConfirmation word={WORD} />
    </Form>
  );
}

/** Why a running erasure may not end. */
function WhatWaits({ erasures }: { erasures: readonly Erasure[] }) {
  const isRunning = erasures.some(({ status }) => status === "running");
  const holds = useQuery({ ...listHolds(0), enabled: isRunning });
  const active = holds.data?.data.filter(({ released_at }) => released_at === null).length ?? 0;
  if (!isRunning || active === 0) return null;
  return (
    <p className="notice warn" role="status">
      An erasure that is running waits for what a hold keeps, and ends after its release:{" "}
      <Link to="/privacy" search={{ section: "holds" }}>
        {formatCount(active, "hold")}
      </Link>
      .
    </p>
  );
}

const NoErasures = ({ isPastEnd }: { isPastEnd: boolean }) =>
  isPastEnd ? (
    <PastEnd what="erasures" first={{ to: "/privacy", search: { section: "erasures" } }} />
  ) : (
    <EmptyState title="Nothing was erased yet">
      <p>Start an erasure below. Its certificate proves afterwards what was deleted, when and by whom.</p>
    </EmptyState>
  );

/** Deletes all data of a subject, and shows the certificates. */
export function Erasures({ chosen, after }: { chosen: string | undefined; after: string | undefined }) {
  const erasures = useQuery(listErasures(after));
  const name = useSubjectName();
  return (
    <>
      <QueryResult query={erasures} what="erasures">
        {({ data, next_after }) => (
          <>
            {data.length === 0 && <NoErasures isPastEnd={after !== undefined} />}
            {data.length > 0 && (
              <Table caption="Erasures, newest first" columns={columns(name)} rows={data} rowKey={({ id }) => id} />
            )}
            <WhatWaits erasures={data} />
            <nav aria-label="Pages" className="title-line">
              {after && (
                <Link className="button" to="/privacy" search={{ section: "erasures" }}>
                  Newest
                </Link>
              )}
              {next_after && (
                <Link className="button" to="/privacy" search={{ section: "erasures", after: next_after }}>
                  Earlier
                </Link>
              )}
            </nav>
          </>
        )}
      </QueryResult>
      <Start chosen={chosen} />
    </>
  );
}
