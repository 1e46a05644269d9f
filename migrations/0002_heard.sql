-- Why some or all of a video's sound could not be heard: {code, message}.
ALTER TABLE transcripts ADD COLUMN problem TEXT;

-- Who wrote a segment's caption, as the model calls itself.
ALTER TABLE segments ADD COLUMN caption_model TEXT;
