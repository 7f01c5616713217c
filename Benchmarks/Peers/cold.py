# SPDX-License-Identifier: MIT
"""Loads URLs (one a line on the standard input) with aiohttp over 6 connections and makes RGBA thumbnails of at most
256 x 256 pixels with Pillow on two threads; prints the processor seconds and the seconds that passed."""
import asyncio
import io
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import aiohttp
from PIL import Image


def thumbnail(data):
    image = Image.open(io.BytesIO(data))
    image.thumbnail((256, 256), Image.LANCZOS)
    return image.convert("RGBA").tobytes()


async def main(urls):
    pool, loop, room = ThreadPoolExecutor(2), asyncio.get_running_loop(), asyncio.Semaphore(32)
    waiting, decodes, kept = iter(urls), [], []

    async def decode(data):
        kept.append(await loop.run_in_executor(pool, thumbnail, data))
        room.release()

    async def fetch(session):
        for url in waiting:
            await room.acquire()
            async with session.get(url) as answer:
                decodes.append(asyncio.create_task(decode(await answer.read())))

    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=6)) as session:
        processor, clock = time.process_time(), time.perf_counter()
        await asyncio.gather(*[fetch(session) for _ in range(6)])
        await asyncio.gather(*decodes)
        print(time.process_time() - processor, time.perf_counter() - clock)
    assert len(kept) == len(urls)


asyncio.run(main(sys.stdin.read().split()))
