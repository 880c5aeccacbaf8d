import { useQuery } from "@tanstack/react-query";
import { HOLDS_PER_PAGE, listHolds, placeHold, releaseHold, type Hold } from "../../api/privacy.ts";
import type { Action } from "../../parts/action.ts";
import { PrincipalLink } from "../../parts/ActorLink.tsx";
import { FieldError } from "../../format/FieldError.ts";
import { Form } from "../../parts/Form.tsx";
import { FormField } from "../../parts/FormField.tsx";
import { formText } from "../../parts/formText.ts";
import { EmptyState, ErrorNotice, QueryResult } from "../../parts/Notices.tsx";
import { Pagination } from "../../parts/Pagination.tsx";
import { RemoveButton } from "../../parts/RemoveButton.tsx";
import { Table, type Columns } from "../../parts/Table.tsx";
import { ThingLink } from "../../parts/ThingLink.tsx";
import { Time } from "../../parts/Time.tsx";
import { useSaveForm } from "../../parts/useSaveForm.ts";
import { useChange } from "../../parts/useChange.ts";
import { HELD_KINDS, readSubject, SubjectField, useSubjectName } from "./SubjectField.tsx";

/** Kinds of subjects with their own screen. */
const KINDS: Record<string, string> = { run: "run", document: "document", key: "key", agent: "agent", person: "user" };

function Covered({ subject, name }: { subject: string; name: string }) {
  const [word = "", id = ""] = subject.split(":", 2);
  const kind = KINDS[word];
  return kind ? <ThingLink thing={{ kind, id }}>{name}</ThingLink> : name;
}

const columns = (name: (subject: string) => string, release: Action<string>): Columns<Hold> => [
  {
    title: "Hold",
    cell: (hold) => (
      <>
        <strong>{hold.name}</strong>
        <span className="quiet block">{hold.reason}</span>
      </>
    ),
  },
  { title: "Keeps", cell: ({ subject }) => <Covered subject={subject} name={name(subject)} /> },
  {
    title: "Placed",
    cell: ({ created_at, placed_by }) => (
      <>
        <Time at={created_at} />{" "}
        <span className="block">
          by <PrincipalLink principal={placed_by} />
        </span>
      </>
    ),
  },
  {
    title: "State",
    cell: (hold) =>
      hold.released_at === null ? (
        <RemoveButton
          id={hold.id}
          label="Release"
          about={hold.name}
          question={`Release the hold “${hold.name}”? What retention rules and erasures wait for is deleted then.`}
          removal={release}
        />
      ) : (
        <>
          released <Time at={hold.released_at} />
          {hold.released_by && (
            <span className="block">
              by <PrincipalLink principal={hold.released_by} />
            </span>
          )}
        </>
      ),
  },
];

function Place({ chosen }: { chosen: string | undefined }) {
  const { send, formKey } = useSaveForm({
    kind: "hold",
    back: { to: "/privacy", search: { section: "holds" } },
    save: (form) => {
      const name = formText(form, "name").trim();
      const reason = formText(form, "reason").trim();
      const subject = readSubject(form);
      if (!name) throw new FieldError("name", "Name the hold: a file number, for instance.");
      if (!reason) throw new FieldError("reason", "Say why it is held.");
      return placeHold({ subject, name, reason });
    },
  });
  return (
    <Form key={formKey} submit="Place hold" done="It stands." send={send}>
      <h2>Place a hold</h2>
      <p className="quiet">
        Nothing that it covers is deleted until it is released: people are refused, retention skips it, erasures wait.
      </p>
      <SubjectField key={chosen} kinds={HELD_KINDS} chosen={chosen} />
      <FormField label="Name" note="stays in the log: no name of a person">
        <input name="name" maxLength={100} autoComplete="off" placeholder="Case 7" />
      </FormField>
      <FormField label="Reason">
        <textarea name="reason" rows={2} maxLength={2_000} />
      </FormField>
    </Form>
  );
}

/** The holds: what they keep, who placed them and why. */
export function Holds({ chosen, page = 0 }: { chosen: string | undefined; page: number | undefined }) {
  const holds = useQuery(listHolds(page * HOLDS_PER_PAGE));
  const name = useSubjectName();
  const release = useChange("hold", releaseHold);
  return (
    <>
      {release.isError && <ErrorNotice error={release.error} />}
      <QueryResult query={holds} what="holds">
        {({ data, total }) => (
          <>
            {data.length === 0 && page === 0 && (
              <EmptyState title="Nothing is held">
                <ol>
                  <li>Place a hold below on whatever a court or an auditor may ask for.</li>
                  <li>A deletion of it is refused from then on, and names the hold.</li>
                  <li>Release it here when the case is closed; rules and erasures go on by themselves.</li>
                </ol>
              </EmptyState>
            )}
            {data.length > 0 && (
              <Table
                caption="Holds, in the order in which they were placed"
                columns={columns(name, release)}
                rows={data}
                rowKey={({ id }) => id}
              />
            )}
            <Pagination
              page={page}
              perPage={HOLDS_PER_PAGE}
              total={total}
              what="hold"
              address={(to) => ({ to: "/privacy", search: { section: "holds", page: to } })}
            />
          </>
        )}
      </QueryResult>
      <Place chosen={chosen} />
    </>
  );
}
