-- step: lock
CREATE TABLE "signing_keys" (
	"key_id" text PRIMARY KEY NOT NULL,
	"used_at" timestamp(3) with time zone DEFAULT now() NOT NULL
);
