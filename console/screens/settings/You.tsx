import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Fragment } from "react";
import { getSession } from "../../api/queries.ts";
import { changePassword } from "../../api/settings.ts";
import { budgetKey, listOwnLimits } from "../../api/spending.ts";
import { FieldError } from "../../format/FieldError.ts";
import { Form } from "../../parts/Form.tsx";
import { FormField } from "../../parts/FormField.tsx";
import { formText } from "../../parts/formText.ts";
import { QueryResult } from "../../parts/Notices.tsx";
import { Ocr } from "./Ocr.tsx";
import { Limit } from "../spending/Limit.tsx";
import "../spending/spending.css";

function Password({ email }: { email: string }) {
  const queries = useQueryClient();
  const send = useMutation({
    mutationFn: async (form: FormData) => {
      const [current_password, new_password] = [formText(form, "current_password"), formText(form, "new_password")];
      if (new_password !== formText(form, "again"))
        throw new FieldError("again", "The new password and its repetition differ.");
      return changePassword({ current_password, new_password });
    },
    // the page may have noticed the end of its former session before it had the new one
    onSuccess: () => queries.refetchQueries(getSession),
  });
  return (
    <section aria-labelledby="password" className="stack">
      <h2 id="password">Password</h2>
      <Form submit="Change password" done="Changed. Your other sessions have ended." send={send}>
        {/* password managers need the account's name */}
        <input hidden name="email" value={email} autoComplete="username" readOnly />
        {/* empty again after a success */}
        <Fragment key={send.isSuccess ? send.submittedAt : 0}>
          <FormField label="Current password">
            <input name="current_password" type="password" autoComplete="current-password" required />
          </FormField>
          <FormField label="New password" hint="At least 12 characters.">
            <input name="new_password" type="password" autoComplete="new-password" minLength={12} required />
          </FormField>
          <FormField label="The new password again">
            <input name="again" type="password" autoComplete="new-password" minLength={12} required />
          </FormField>
        </Fragment>
      </Form>
    </section>
  );
}

const WHO: Record<string, string> = { organization: "The organization", person: "You" };
const nameOf = ({ subject, model }: { subject: string; model: string | null }): string =>
  `${WHO[subject.split(":")[0]!] ?? subject}${model === null ? "" : ` for ${model}`}`;

/** What the person may still spend. */
function OwnLimits() {
  const limits = useQuery(listOwnLimits);
  return (
    <section aria-labelledby="own-limits" className="stack">
      <h2 id="own-limits">What you may spend</h2>
      <QueryResult query={limits} what="limits">
        {({ data }) =>
          data.length === 0 ? (
            <p className="quiet">No budget limits your requests.</p>
          ) : (
            <dl className="facts">
              {data.map((budget) => (
                <Fragment key={budgetKey(budget)}>
                  <dt>{nameOf(budget)}</dt>
                  <dd>
                    {budget.limits.map((limit) => (
                      <Limit key={limit.name} limit={limit} />
                    ))}
                  </dd>
                </Fragment>
              ))}
            </dl>
          )
        }
      </QueryResult>
    </section>
  );
}

/** The organization with its languages of text recognition, and the signed-in person. */
export function You() {
  const { data } = useQuery(getSession);
  if (!data) return null;
  const { user, organization } = data;
  return (
    <>
      <dl className="facts">
        <dt>Organization</dt>
        <dd>
          {organization.name} <span className="mono quiet">{organization.id}</span>
        </dd>
        <dt>You</dt>
        <dd>
          <Link to="/members/$memberId" params={{ memberId: user.id }}>
            {user.name || user.email}
          </Link>
        </dd>
        <dt>E-mail</dt>
        <dd>{user.email}</dd>
        <dt>Role</dt>
        <dd>{user.role}</dd>
      </dl>
      <OwnLimits />
      <Ocr />
      <Password email={user.email} />
    </>
  );
}
