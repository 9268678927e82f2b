import type { ReportDocument } from "./document";

/** Where the pages get their document from: embedded in the file, or later from the web API. */
export interface DocumentSource {
  load(): Promise<ReportDocument>;
}

/** The document that stands in this very file. */
export function embeddedSource(): DocumentSource {
  return {
    async load() {
      const text = document.getElementById("loadstone-document")?.textContent ?? "";
      return parse(text);
    },
  };
}

/** Reads a document; refuses a version that these pages do not know. */
export function parse(text: string): ReportDocument {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new Error("This page holds no report. Write one with: loadstone report RESULT --html FILE");
  }
  const version = (value as { version?: unknown }).version;
  if (version !== 1) throw new Error(`This page reads reports of version 1, not of ${String(version)}.`);
  return value as ReportDocument;
}
