ALTER TABLE "dashboard_views" ADD COLUMN "viewed" datemultirange DEFAULT '{}' NOT NULL;--> statement-breakpoint
ALTER TABLE "dashboard_views" ADD COLUMN "compared" datemultirange DEFAULT '{}' NOT NULL;--> statement-breakpoint
ALTER TABLE "dashboard_views" ADD COLUMN "downloaded" datemultirange DEFAULT '{}' NOT NULL;