import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { getSubstitute, nameSubstitute, withdrawSubstitute, type Substitute } from "../../api/approvalPeople.ts";
import { getSession } from "../../api/queries.ts";
import { ActionButton } from "../../parts/ActionButton.tsx";
import { Form } from "../../parts/Form.tsx";
import { formText } from "../../parts/formText.ts";
import { ErrorNotice, QueryResult } from "../../parts/Notices.tsx";
import { Time } from "../../parts/Time.tsx";
import { displayName } from "./displayName.ts";
import { PersonField } from "./PersonField.tsx";

/** The start of a day in the browser's time zone, or of the next day. */
const toTime = (day: string, after = 0): string => {
  const [year = 0, month = 1, date = 1] = day.split("-").map(Number);
  return new Date(year, month - 1, date + after).toISOString();
};

const readSubstitute = (form: FormData) => ({
  substitute: formText(form, "substitute"),
  from: toTime(formText(form, "from")),
  until: toTime(formText(form, "until"), 1),
});

const SubstituteName = ({ current: { substitute, from, until } }: { current: Substitute }) =>
  substitute && from && until ? (
    <>
      {displayName(substitute)} decides for you from <Time at={from} /> until <Time at={until} />
    </>
  ) : (
    "Away for a while?"
  );

function SubstituteForm({ person, current }: { person: string; current: Substitute }) {
  const queries = useQueryClient();
  const settled = { onSettled: () => queries.invalidateQueries({ queryKey: ["organization", "substitute"] }) };
  const name = useMutation({
    mutationFn: async (form: FormData) => nameSubstitute(person, readSubstitute(form)),
    ...settled,
  });
  const withdraw = useMutation({ mutationFn: () => withdrawSubstitute(person), ...settled });
  return (
    <details>
      <summary>
        <SubstituteName current={current} />
      </summary>
      <Form submit="Name the substitute" isWithin send={name}>
        <p className="quiet">Your substitute sees and may decide what waits for you, in your place.</p>
        <PersonField name="substitute" label="Substitute" />
        <label>
          First day <input type="date" name="from" required />
        </label>
        <label>
          Last day <input type="date" name="until" required />
        </label>
      </Form>
      {current.substitute && (
        <p>
          <ActionButton label="Withdraw the substitute" action={withdraw} />
        </p>
      )}
      {withdraw.isError && <ErrorNotice error={withdraw.error} />}
    </details>
  );
}

function OwnSubstitute({ person }: { person: string }) {
  const current = useQuery(getSubstitute(person));
  return (
    <QueryResult query={current} what="who decides for you">
      {(data) => <SubstituteForm person={person} current={data} />}
    </QueryResult>
  );
}

/** The substitute of the signed-in person. */
export function MySubstitute() {
  const { data: me } = useQuery(getSession);
  return me && me.user.role !== "viewer" ? <OwnSubstitute person={me.user.id} /> : null;
}
