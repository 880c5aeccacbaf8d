import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { Empty } from "./Notices.tsx";

interface Props {
  /** What the screen shows: "API keys". */
  what: string;
  isAllowed: boolean;
  children: ReactNode;
}

/** A screen for administrators; for everybody else, who that is. The service refuses the same people. */
export const Restricted = ({ what, isAllowed, children }: Props) =>
  isAllowed ? (
    children
  ) : (
    <section className="screen" aria-labelledby="title">
      <h1 id="title">{what}</h1>
      <Empty title="For administrators">
        <p>
          {what} are shown to owners and administrators only. <Link to="/members">See who they are</Link>.
        </p>
      </Empty>
    </section>
  );

/** A screen for builders and administrators. */
export const ForBuilders = ({ what, isAllowed, children }: Props) =>
  isAllowed ? (
    children
  ) : (
    <section className="screen" aria-labelledby="title">
      <h1 id="title">{what}</h1>
      <Empty title="For builders">
        <p>
          Owners, administrators and builders see this. <Link to="/members">See who they are</Link>.
        </p>
      </Empty>
    </section>
  );
